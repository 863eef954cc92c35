"""Deleting a branding profile."""

from django.db import transaction

from paraph.drafts.models import Draft
from paraph.kernel import clock
from paraph.request_templates.models import Template
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.branding import existing_profile, facts_of
from paraph.tenants.models import BrandingProfile
from paraph.tenants.organizations import locked_organization


@transaction.atomic
def delete_profile(actor: Actor, profile: BrandingProfile) -> None:
    """Delete a profile; another may then be made in its place. Requests that have it keep its colours; drafts and
    templates that had chosen it have the default ones from then on. Raise ``DomainError("not_found", …)``, also for a
    profile that is deleted already."""
    locked_organization(profile.organization_id)
    found = existing_profile(profile.pk)
    found.deleted_at = clock.now()
    found.save(update_fields=["deleted_at"])
    for model in (Draft, Template):
        chosen = model.objects.filter(organization=profile.organization_id, content__branding_profile_id=profile.pk)
        for row in chosen.select_for_update(no_key=True, of=("self",)):
            del row.content["branding_profile_id"]
            row.save(update_fields=["content"])
    note(profile.organization_id, actor, Action.BRANDING_DELETED, profile.name, before=facts_of(profile))
