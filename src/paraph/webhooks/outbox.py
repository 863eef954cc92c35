"""Recording deliveries, in the transaction of their event."""

from datetime import datetime
from typing import Any

import structlog

from paraph.database.prepared_statements import prepared_cursor
from paraph.journal.event_types import EventType
from paraph.kernel import clock
from paraph.outbound.url import origin_of
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.webhooks.models import Delivery, DeliveryStatus, Destination
from paraph.webhooks.payload import EVENTS, TERMINAL_EVENTS, payload

_RELEASE = "UPDATE webhooks_delivery SET status = 'waiting', due_at = %s WHERE request_id = %s AND status = 'held'"


def deliveries(
    request: SignatureRequest,
    event_type: str,
    signer: Signer | None = None,
    occurred_at: datetime | None = None,
    metadata: dict[str, Any] | None = None,
) -> list[Delivery]:
    """Returns the deliveries of an event: one to the application's URL, and for a terminal event one to the request's
    callback (specification 6.4). Event types without webhooks (6.2) have none, nor has a request that was sent from the
    dashboard.

    The caller inserts them with the journal entry; workers see them once that transaction commits. ``request`` and
    ``signer`` are as the event left them; ``occurred_at`` is now by default; ``metadata`` is stated
    beside the request. ``request.completed`` is held until :func:`release`.
    """
    if event_type not in EVENTS or request.application is None:
        return []
    destinations = _destinations(request.application.webhook_url, request.callback_url, event_type)
    if not destinations:
        return []
    moment = occurred_at or clock.now()
    text = payload(event_type, moment, request, signer, metadata)
    return [
        Delivery(
            application=request.application,
            request=request,
            destination=destination,
            url=url,
            endpoint=f"{request.application_id} {origin_of(url)}"[:300],
            event_type=event_type,
            occurred_at=moment,
            payload=text,
            status=DeliveryStatus.HELD if event_type == EventType.COMPLETED else DeliveryStatus.WAITING,
            due_at=moment,
            trace=structlog.contextvars.get_contextvars().get("request_id", ""),
        )
        for destination, url in destinations
    ]


def release(request_id: int) -> None:
    """Releases ``request.completed``, once sealed PDFs and proof are stored. Safe to repeat."""
    with prepared_cursor() as cursor:
        cursor.execute(_RELEASE, [clock.now(), request_id])


def _destinations(webhook_url: str, callback_url: str, event_type: str) -> list[tuple[Destination, str]]:
    destinations = [(Destination.APPLICATION, webhook_url)] if webhook_url else []
    if callback_url and event_type in TERMINAL_EVENTS:
        destinations.append((Destination.CALLBACK, callback_url))
    return destinations
