"""The addresses and numbers that have agreed to get messages of a sandbox (``PARAPH_SANDBOX_MAIL``)."""

from datetime import timedelta

from django.conf import settings
from django.core.signing import BadSignature, Signer

from paraph.kernel import clock
from paraph.tenants.models import ConfirmedAddress, Environment
from paraph.tenants.organizations import existing_organization

VALID_FOR = timedelta(days=7)

_SIGNER = Signer(salt="paraph.confirmed-address")


def is_withheld(organization_id: int, environment: str, recipient: str) -> bool:
    """Return whether a message of the organization is kept for the inbox instead of going to this address or number."""
    if environment != Environment.SANDBOX or settings.PARAPH.sandbox_mails_everyone:
        return False
    own = ConfirmedAddress.objects.filter(organization_id=organization_id, address=_written(recipient))
    return not own.filter(confirmed_at__isnull=False).exists()


def ask(organization_id: int, recipient: str) -> tuple[ConfirmedAddress, str]:
    """Return the row of the address or number, and a token that can confirm it for 7 days; earlier tokens become
    invalid. Raise ``DomainError("not_found", …)``."""
    row = _row(organization_id, recipient)
    row.asked_at = clock.now()
    row.save(update_fields=["asked_at"])
    return row, _SIGNER.sign_object([row.pk, clock.iso_milliseconds(row.asked_at)])


def vouch(organization_id: int, recipient: str) -> ConfirmedAddress:
    """Confirm an address or number that somebody vouches for. Raise ``DomainError("not_found", …)``."""
    row = _row(organization_id, recipient)
    row.confirmed_at = row.confirmed_at or clock.now()
    row.save(update_fields=["confirmed_at"])
    return row


def withdraw(organization_id: int, recipient: str) -> ConfirmedAddress:
    """Take a confirmation back. Raise ``DomainError("not_found", …)``."""
    row = _row(organization_id, recipient)
    row.confirmed_at, row.asked_at = None, clock.now()  # a new asked_at makes earlier links invalid
    row.save(update_fields=["confirmed_at", "asked_at"])
    return row


def find(token: str) -> ConfirmedAddress | None:
    """Return the row that the token was made for, with its organization; None if it is forged, replaced or too old."""
    try:
        pk, asked_at = _SIGNER.unsign_object(token)
    except (BadSignature, ValueError):
        return None
    row = ConfirmedAddress.objects.select_related("organization").filter(pk=pk).first()
    if row is None or clock.iso_milliseconds(row.asked_at) != asked_at:
        return None
    return row if clock.now() < row.asked_at + VALID_FOR else None


def confirm(row: ConfirmedAddress) -> None:
    """Confirm the address or number: messages of the organization's sandbox go there from now on."""
    ConfirmedAddress.objects.filter(pk=row.pk, confirmed_at=None).update(confirmed_at=clock.now())


def _row(organization_id: int, recipient: str) -> ConfirmedAddress:
    organization = existing_organization(organization_id)
    row, _ = ConfirmedAddress.objects.get_or_create(organization=organization, address=_written(recipient))
    return row


def _written(recipient: str) -> str:
    return recipient.strip().lower()
