"""Preparing a delivery for sending: headers, body and signature (rule 6.1)."""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from paraph.tenants.applications import webhook_secrets
from paraph.webhooks.claim import ClaimedDelivery
from paraph.webhooks.models import Destination
from paraph.webhooks.payload import body

_SIGNATURE_HEADERS = ("X-Service-Signature", "X-Service-Signature-Next")


@dataclass(frozen=True)
class PreparedDelivery:
    """A delivery ready to send to a URL of one of the ``schemes``. ``trouble`` is as in
    :class:`~paraph.webhooks.claim.ClaimedDelivery`."""

    delivery_id: int
    attempt_id: UUID
    url: str
    schemes: tuple[str, ...]
    headers: dict[str, str]
    body: bytes
    trouble: bool


def prepare_delivery(claimed: ClaimedDelivery) -> PreparedDelivery:
    """Prepare a claimed delivery, with links that are valid from now on. Callbacks are signed with the application's
    secret too. While that is being rotated, a header of its own has the signature of the secret that follows."""
    content = body(claimed.event_type, claimed.payload, claimed.request_id)
    secrets = webhook_secrets(claimed.secret, claimed.next_secret, claimed.next_secret_at)
    return PreparedDelivery(
        delivery_id=claimed.delivery_id,
        attempt_id=claimed.attempt_id,
        url=claimed.url,
        schemes=("https",) if claimed.destination == Destination.CALLBACK else ("https", "http"),
        headers=headers(claimed.event_type, claimed.entry_id, str(claimed.attempt_id), secrets, content),
        body=content,
        trouble=claimed.trouble,
    )


def headers(
    event_type: str, entry_id: int | None, attempt_id: str, secrets: Sequence[str], content: bytes
) -> dict[str, str]:
    """Return the headers of a delivery with this body, signed with one secret, or during a rotation with two. A test,
    which has no journal entry, is event 0."""
    signatures = zip(_SIGNATURE_HEADERS, (signature(secret, content) for secret in secrets), strict=False)
    return {
        "Content-Type": "application/json",
        "User-Agent": "Paraph-Webhooks/1",
        "X-Service-Event": event_type,
        "X-Service-Event-Id": str(entry_id or 0),
        "X-Service-Delivery": attempt_id,
        **dict(signatures),
    }


def signature(secret: str, content: bytes) -> str:
    """Return the HMAC-SHA256 of the raw body, as ``sha256=<hex>``."""
    return f"sha256={hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()}"
