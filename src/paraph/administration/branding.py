"""Branding profiles: made, changed and deleted."""

from django.db import transaction

from paraph.administration.locked import locked_organization
from paraph.drafts.models import Draft
from paraph.request_templates.models import Template
from paraph.tenants import registration
from paraph.tenants.admin_log.actions import Action
from paraph.tenants.admin_log.actor import Actor
from paraph.tenants.admin_log.log import note
from paraph.tenants.models import BrandingProfile


@transaction.atomic
def create_profile(organization_id: int, actor: Actor, name: str, **colors: str) -> BrandingProfile:
    """Makes a profile with ``background_color``, ``text_color`` and ``accent_color``. Raises ``DomainError``:
    ``not_found``, ``validation_error``, ``forbidden`` where the plan allows no further one."""
    locked_organization(organization_id)
    profile = registration.create_branding_profile(organization_id, name, **colors)
    note(organization_id, actor, Action.BRANDING_CREATED, profile.name, after=_facts(profile))
    return profile


@transaction.atomic
def update_profile(actor: Actor, profile: BrandingProfile, name: str, **colors: str) -> BrandingProfile:
    """Changes name and colours of a profile. Raises ``DomainError``: ``not_found``, ``validation_error``."""
    organization = locked_organization(profile.organization_id)
    before = _facts(profile)
    changed = registration.update_branding_profile(profile, name, **colors)
    if before != _facts(changed):
        note(organization.pk, actor, Action.BRANDING_UPDATED, changed.name, before=before, after=_facts(changed))
    return changed


@transaction.atomic
def delete_profile(actor: Actor, profile: BrandingProfile) -> None:
    """Deletes a profile. Requests that have it keep its colours; drafts and templates that had chosen it have the
    default ones from then on. Raises ``DomainError("not_found", …)``, also for a profile that is deleted already."""
    locked_organization(profile.organization_id)
    registration.delete_branding_profile(registration.existing_branding_profile(profile.pk))
    for table in (Draft, Template):
        table.objects.filter(branding_profile=profile).update(branding_profile=None)
    note(profile.organization_id, actor, Action.BRANDING_DELETED, profile.name, before=_facts(profile))


def _facts(profile: BrandingProfile) -> dict[str, object]:
    return {
        "branding_profile_id": profile.pk,
        "name": profile.name,
        "background_color": profile.background_color,
        "text_color": profile.text_color,
        "accent_color": profile.accent_color,
    }
