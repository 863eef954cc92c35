"""Branding profiles: their logos kept, replaced and removed; and deleting a profile."""

from django.db import transaction

from paraph.documents import objects_to_delete
from paraph.drafts.models import Draft
from paraph.kernel import clock, tokens
from paraph.pdf.untrusted.logo import redrawn
from paraph.request_templates.models import Template
from paraph.storage import store
from paraph.storage.objects import folder_of
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.branding import existing_profile, facts_of
from paraph.tenants.models import BrandingProfile, Logo
from paraph.tenants.organizations import locked_organization
from paraph.tenants.scope import TenantScope, tenant_key


def keep_logo(scope: TenantScope, actor: Actor, profile: BrandingProfile, content: bytes) -> Logo:
    """Draw the picture anew, and keep the result in place of the profile's logo. Raise
    :class:`paraph.pdf.untrusted.logo.LogoRefused`, ``DomainError`` ``not_found`` or ``unavailable``."""
    png, width, height = redrawn(content, tenant_key(scope))
    # never the key of an earlier logo, which may be about to be deleted
    key = f"logos/{folder_of(profile.pk)}/{profile.pk}-{tokens.random_hex(8)}.png"
    store.put(key, png)
    logo = Logo(profile=profile, object_key=key, width=width, height=height, file_size=len(png))
    logo.sha256 = tokens.sha256(png)
    _replace(actor, profile, logo)
    return logo


def remove_logo(actor: Actor, profile: BrandingProfile) -> None:
    """Remove the logo of a profile; do nothing where it has none. Raise ``DomainError("not_found", …)``."""
    _replace(actor, profile, None)


def remove_logos(organization_id: int) -> None:
    """Remove the logos of all profiles of an organization, deleted profiles too. Call it in the transaction that
    deletes the organization."""
    logos = Logo.objects.filter(profile__organization=organization_id)
    objects_to_delete.note(logos.values_list("object_key", flat=True))
    logos.delete()


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


@transaction.atomic
def _replace(actor: Actor, profile: BrandingProfile, logo: Logo | None) -> None:
    locked_organization(profile.organization_id)
    found = existing_profile(profile.pk)
    earlier = Logo.objects.filter(profile=found).first()
    if earlier:
        objects_to_delete.note([earlier.object_key])
        earlier.delete()
    if logo:
        logo.save(force_insert=True)
    if earlier or logo:
        before, after = _facts(found, earlier), _facts(found, logo)
        note(found.organization_id, actor, Action.BRANDING_UPDATED, found.name, before=before, after=after)


def _facts(profile: BrandingProfile, logo: Logo | None) -> dict[str, object]:
    return {"branding_profile_id": profile.pk, "logo_sha256": bytes(logo.sha256).hex() if logo else None}
