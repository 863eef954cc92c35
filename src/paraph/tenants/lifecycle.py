"""Suspending organizations, and deleting them.

A suspended organization begins nothing new: its keys are refused (403). What is under way goes on: signers sign, files
are sealed, webhooks are delivered. A deleted one is as if it did not exist: its keys are unknown (401), its signing
links lead nowhere (404).
"""

from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.applications import revoke_keys
from paraph.tenants.models import ApiKey, ConfirmedAddress, Environment, Organization, Retention
from paraph.tenants.organizations import locked_organization
from paraph.tenants.scope import TenantScope

DAYS_AFTER_DELETION = 90
"""How long after the end of a request files and people are kept in a deleted organization that had no retention."""


def suspend_organization(actor: Actor, organization_id: int) -> Organization:
    """Suspend the organization, whose keys are refused from now on. Raise ``DomainError``: ``not_found``, ``conflict``
    where it is suspended already."""
    return _suspend(actor, organization_id, clock.now(), Action.ORGANIZATION_SUSPENDED, "is suspended already")


def resume_organization(actor: Actor, organization_id: int) -> Organization:
    """Resume the organization, whose keys are taken again. Raise ``DomainError``: ``not_found``, ``conflict`` where it
    is not suspended."""
    return _suspend(actor, organization_id, None, Action.ORGANIZATION_RESUMED, "is not suspended")


@transaction.atomic
def _suspend(
    actor: Actor, organization_id: int, since: datetime | None, action: Action, otherwise: str
) -> Organization:
    organization = locked_organization(organization_id)
    if bool(organization.suspended_at) == bool(since):
        raise DomainError("conflict", f"Organization {organization_id} {otherwise}.")
    organization.suspended_at = since
    organization.save(update_fields=["suspended_at"])
    note(organization_id, actor, action, organization.name)
    return organization


def require_active(scope: TenantScope) -> None:
    """Raise ``DomainError("forbidden", …)`` for a suspended organization, where something new would begin."""
    if scope.suspended:
        raise DomainError("forbidden", _("The organization is suspended. Ask the operator of this service."))


@transaction.atomic
def close_organization(organization_id: int, actor: Actor, typed_name: str | None = None) -> None:
    """End its keys and pages at once, forget its contact and confirmed addresses, and have its files deleted and its
    people forgotten as its retention says, or 90 days after the end of each request. Where it says nothing of people,
    they are forgotten after as many days as files are kept. The caller ends its requests.

    Raise ``DomainError``: ``not_found``, ``validation_error`` where a typed name is not the organization's.
    """
    organization = locked_organization(organization_id)
    if typed_name is not None and " ".join(typed_name.split()) != " ".join(organization.name.split()):
        raise DomainError("validation_error", _("This is not the organization's name."))
    organization.deleted_at, organization.contact_email = clock.now(), ""
    organization.save(update_fields=["deleted_at", "contact_email"])
    revoke_keys(ApiKey.objects.filter(application__organization=organization))
    ConfirmedAddress.objects.filter(organization=organization).delete()
    for environment in Environment.values:
        Retention.objects.get_or_create(
            organization=organization, environment=environment, defaults={"days": DAYS_AFTER_DELETION}
        )
    Retention.objects.filter(organization=organization, people_days=None).update(people_days=F("days"))
    note(organization_id, actor, Action.ORGANIZATION_DELETED, organization.name)
