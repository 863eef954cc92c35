"""Suspending organizations, and deleting them.

A suspended organization begins nothing new: its keys are refused (403). What is under way ends: signers sign, files are
sealed, webhooks are delivered. A deleted one is as if it did not exist: its keys are unknown (401), its signing links
lead nowhere (404).
"""

from django.db import transaction
from django.utils.translation import gettext as _

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants.models import ApiKey, ConfirmedAddress, Environment, Organization, Retention
from paraph.tenants.registration import existing_organization, revoke_keys
from paraph.tenants.scope import Caller

DAYS_AFTER_DELETION = 90
"""How long after the end of a request its files are kept in a deleted organization that had no retention."""


def suspend(organization_id: int) -> Organization:
    """Raises ``DomainError("not_found" | "conflict", …)``, the latter where it is suspended already."""
    organization = existing_organization(organization_id)
    if organization.suspended_at:
        raise DomainError("conflict", f"Organization {organization_id} is suspended already.")
    organization.suspended_at = clock.now()
    organization.save(update_fields=["suspended_at"])
    return organization


def resume(organization_id: int) -> Organization:
    """Raises ``DomainError("not_found" | "conflict", …)``, the latter where it is not suspended."""
    organization = existing_organization(organization_id)
    if not organization.suspended_at:
        raise DomainError("conflict", f"Organization {organization_id} is not suspended.")
    organization.suspended_at = None
    organization.save(update_fields=["suspended_at"])
    return organization


def require_active(caller: Caller) -> None:
    """Raises ``DomainError("forbidden", …)`` for a suspended organization, where something new would begin."""
    if caller.suspended:
        raise DomainError("forbidden", _("The organization is suspended. Ask whoever runs this service."))


def delete_organization(organization_id: int) -> Organization:
    """Ends its keys and pages at once, forgets its contact and confirmed addresses, and has its files deleted as its
    retention says, or 90 days after the end of each request. Ends no request: the caller does.

    Raises ``DomainError("not_found", …)``.
    """
    with transaction.atomic():
        organization = existing_organization(organization_id, lock=True)
        organization.deleted_at, organization.contact_email = clock.now(), ""
        organization.save(update_fields=["deleted_at", "contact_email"])
        revoke_keys(ApiKey.objects.filter(application__organization=organization))
        ConfirmedAddress.objects.filter(organization=organization).delete()
        for environment in Environment.values:
            Retention.objects.get_or_create(
                organization=organization, environment=environment, defaults={"days": DAYS_AFTER_DELETION}
            )
    return organization
