"""A delivery made ready to send: headers, body, signature (specification 6.1)."""

import hashlib
import hmac
from dataclasses import dataclass
from uuid import UUID

from paraph.organizations.registration import webhook_secret
from paraph.webhooks.claim import Claimed
from paraph.webhooks.models import Destination
from paraph.webhooks.payload import body


@dataclass(frozen=True)
class Parcel:
    """``schemes`` are those its URL may have; ``trouble`` is :class:`~paraph.webhooks.claim.Claimed`'s."""

    delivery_id: int
    attempt_id: UUID
    url: str
    schemes: tuple[str, ...]
    headers: dict[str, str]
    body: bytes
    trouble: bool


def pack(claimed: Claimed) -> Parcel:
    """The parcel of a claimed delivery. Links in it are valid from now. A callback is signed with the
    application's secret as well."""
    delivery = claimed.delivery
    if delivery.open_attempt is None:
        raise ValueError("only a claimed delivery can be packed")
    content = body(delivery.event_type, delivery.payload, delivery.request_id)
    secret = webhook_secret(delivery.application)
    return Parcel(
        delivery_id=delivery.pk,
        attempt_id=delivery.open_attempt,
        url=delivery.url,
        schemes=("https",) if delivery.destination == Destination.CALLBACK else ("https", "http"),
        headers={
            "Content-Type": "application/json",
            "User-Agent": "Paraph-Webhooks/1",
            "X-Service-Event": delivery.event_type,
            "X-Service-Delivery": str(delivery.open_attempt),
            "X-Service-Signature": signature(secret, content),
        },
        body=content,
        trouble=claimed.trouble,
    )


def signature(secret: str, content: bytes) -> str:
    """``sha256=<hex>``, the HMAC-SHA256 of the raw body."""
    return f"sha256={hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()}"
