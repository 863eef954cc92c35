"""What requests that members begin in the dashboard have from the start, as the organization wants it: the options of a
creation that it names, beside ``locale`` and ``message``. What has no default is as it is everywhere."""

from typing import Any

from django.db import transaction

from paraph.kernel.errors import DomainError
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.models import BrandingProfile, Organization
from paraph.tenants.organizations import locked_organization

Json = dict[str, Any]
DEFAULTS = ("locale", "branding_profile_id", "validity_days", "reminders", "message")


def request_defaults(organization: Organization) -> Json:
    """Return the defaults that hold, without a branding profile that was deleted."""
    defaults = dict(organization.request_defaults or {})
    if not _has_profile(organization.pk, defaults.get("branding_profile_id")):
        del defaults["branding_profile_id"]
    return defaults


@transaction.atomic
def change_request_defaults(organization_id: int, actor: Actor, wanted: Json) -> None:
    """Make these the defaults, with values that are read already, and note what changed: of a message, which may name
    people, only that there is one. Raise ``DomainError``: ``not_found``, ``validation_error`` for another
    organization's branding profile."""
    organization = locked_organization(organization_id)
    defaults = {name: wanted[name] for name in DEFAULTS if wanted.get(name)}
    if not _has_profile(organization_id, defaults.get("branding_profile_id")):
        raise DomainError("validation_error", "branding_profile_id must name a branding profile of the organization.")
    before = organization.request_defaults or {}
    if changed := [name for name in DEFAULTS if before.get(name) != defaults.get(name)]:
        organization.request_defaults = defaults
        organization.save(update_fields=["request_defaults"])
        earlier, later = ({f"default_{name}": _told(name, each) for name in changed} for each in (before, defaults))
        note(organization_id, actor, Action.ORGANIZATION_UPDATED, before=earlier, after=later)


def _told(name: str, defaults: Json) -> Any:
    return "…" if name == "message" and name in defaults else defaults.get(name)


def _has_profile(organization_id: int, profile_id: int | None) -> bool:
    """Return whether the profile is the organization's; as well where none is named."""
    own = BrandingProfile.objects.filter(organization_id=organization_id, deleted_at=None)
    return profile_id is None or own.filter(pk=profile_id).exists()
