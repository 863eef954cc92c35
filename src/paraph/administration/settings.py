"""Settings of an organization, and its deletion."""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from paraph.administration.locked import locked_organization
from paraph.flow.ending.end_early import end_requests_of_deleted
from paraph.kernel.errors import DomainError
from paraph.tenants import lifecycle
from paraph.tenants.admin_log.actions import Action
from paraph.tenants.admin_log.actor import Actor
from paraph.tenants.admin_log.log import note
from paraph.tenants.models import Organization
from paraph.tenants.registration import update_organization
from paraph.tenants.retention import retention_days, set_retention

_FIELDS = ("name", "plan", "contact_email", "refuse_changeable_documents", "mails_copy_links")
_ENDED_AT_ONCE = 20  # while somebody waits for the answer


@transaction.atomic
def change_settings(organization_id: int, actor: Actor, **given: Any) -> Organization:
    """Changes name, plan, contact address, whether documents that can change are refused, and whether summaries have
    links. Which of these an actor may change, the caller says.

    Raises ``DomainError``: ``not_found``, ``validation_error``.
    """
    before = _settings(locked_organization(organization_id))
    changed = update_organization(organization_id, **{field: given[field] for field in _FIELDS if field in given})
    after = _settings(changed)
    differing = [field for field in _FIELDS if before[field] != after[field]]
    if differing:
        facts = ({field: values[field] for field in differing} for values in (before, after))
        note(organization_id, actor, Action.ORGANIZATION_UPDATED, before=next(facts), after=next(facts))
    return changed


@transaction.atomic
def change_retention(organization_id: int, actor: Actor, days: dict[str, int | None]) -> None:
    """Sets for each environment how many days files are kept; None for ever.

    Raises ``DomainError``: ``not_found``, ``validation_error``.
    """
    locked_organization(organization_id)
    before = retention_days(organization_id)
    for environment, number in days.items():
        set_retention(organization_id, environment, number)
        if number != before.get(environment, number):
            facts = ({"environment": environment, "days": each} for each in (before[environment], number))
            note(organization_id, actor, Action.RETENTION_SET, environment, before=next(facts), after=next(facts))


def delete_organization_named(organization_id: int, actor: Actor, typed_name: str) -> None:
    """Deletes the organization, whose name is typed, then ends a few of its pending requests; a job ends the others
    within minutes. Raises ``DomainError``: ``not_found``, ``validation_error`` for another name."""
    with transaction.atomic():
        organization = locked_organization(organization_id)
        if " ".join(typed_name.split()) != " ".join(organization.name.split()):
            raise DomainError("validation_error", _("This is not the organization's name."))
        _delete(organization, actor)
    end_requests_of_deleted(most=_ENDED_AT_ONCE)


def delete_organization(organization_id: int, actor: Actor) -> int:
    """Deletes the organization, then ends all of its pending requests, each in a transaction of its own; a job ends
    those that a crash leaves. Returns how many ended. Raises ``DomainError("not_found", …)``."""
    with transaction.atomic():
        _delete(locked_organization(organization_id), actor)
    return end_requests_of_deleted()


def _delete(organization: Organization, actor: Actor) -> None:
    lifecycle.delete_organization(organization.pk)
    note(organization.pk, actor, Action.ORGANIZATION_DELETED, organization.name)


def _settings(organization: Organization) -> dict[str, Any]:
    return {field: getattr(organization, field) for field in _FIELDS}
