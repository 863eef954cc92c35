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
    content = body(claimed.event_type, claimed.payload, claimed.request_id)
    return Parcel(
        delivery_id=claimed.delivery_id,
        attempt_id=claimed.attempt_id,
        url=claimed.url,
        schemes=("https",) if claimed.destination == Destination.CALLBACK else ("https", "http"),
        headers={
            "Content-Type": "application/json",
            "User-Agent": "Paraph-Webhooks/1",
            "X-Service-Event": claimed.event_type,
            "X-Service-Delivery": str(claimed.attempt_id),
            "X-Service-Signature": signature(webhook_secret(claimed.secret), content),
        },
        body=content,
        trouble=claimed.trouble,
    )


def signature(secret: str, content: bytes) -> str:
    """``sha256=<hex>``, the HMAC-SHA256 of the raw body."""
    return f"sha256={hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()}"
