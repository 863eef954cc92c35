"""Delete an organization: its keys and pages end at once, then its pending requests."""

from django.db import transaction

from paraph.flow.ending.end_early import end_requests_of_deleted
from paraph.flow.logos import remove_logos
from paraph.tenants.admin_log import Actor
from paraph.tenants.lifecycle import close_organization

_ENDED_AT_ONCE = 20  # while somebody waits for the answer


def delete_organization(organization_id: int, actor: Actor) -> int:
    """End all of its pending requests, each in a transaction of its own; a job ends those that a crash leaves. Return
    how many ended. Raise ``DomainError("not_found", …)``."""
    _close(organization_id, actor)
    return end_requests_of_deleted()


def delete_organization_named(organization_id: int, actor: Actor, typed_name: str) -> None:
    """Delete the organization whose name was typed, and end a few of its pending requests; a job ends the others within
    minutes. Raise ``DomainError``: ``not_found``, or ``validation_error`` where the name is another one."""
    _close(organization_id, actor, typed_name)
    end_requests_of_deleted(most=_ENDED_AT_ONCE)


@transaction.atomic
def _close(organization_id: int, actor: Actor, typed_name: str | None = None) -> None:
    close_organization(organization_id, actor, typed_name)
    remove_logos(organization_id)
