"""Recording events, as the API lists them, and their deliveries, in the transaction of what happened."""

from collections.abc import Iterator
from typing import Any

import structlog
from django.db.models import Model

from paraph.audit_trail.models import Entry, EventType
from paraph.database.base import planned
from paraph.kernel import clock
from paraph.outbound.url import origin_of
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.tenants.models import Environment
from paraph.tenants.organizations import application_for_web
from paraph.webhooks.models import Delivery, DeliveryStatus, Destination, Event
from paraph.webhooks.payload import EVENTS, TERMINAL_EVENTS, payload

_RELEASE = """
    UPDATE webhooks_delivery
    SET status = CASE destination WHEN 'catcher' THEN 'caught' ELSE 'waiting' END, due_at = %(now)s,
        finished_at = CASE destination WHEN 'catcher' THEN %(now)s::timestamptz END
    WHERE request_id = %(request_id)s AND status = 'held'
"""
_PUBLISH = "UPDATE webhooks_event SET held = false WHERE request_id = %(request_id)s AND held"


def event_and_deliveries(
    entry: Entry, request: SignatureRequest, signer: Signer | None = None, metadata: dict[str, Any] | None = None
) -> list[Model]:
    """Return the event of a journal entry and its deliveries: one to the application's URL, and for a terminal event
    one to the request's callback (rule 6.4). Event types without webhooks (6.2) have neither. Of a request that was
    sent from the dashboard that application hears which its organization names, if any. What a sandbox application
    without a URL would have been sent is caught: recorded and never sent.

    The caller inserts them with the journal entry; workers see them once that transaction commits. ``request`` and
    ``signer`` are as the event left them; ``metadata`` is stated beside the request. ``request.completed`` is held
    until :func:`release`.
    """
    if entry.event_type not in EVENTS:
        return []
    text = payload(entry.event_type, entry.created_at, request, signer, metadata)
    return [_event(entry, text), *_deliveries(entry, request, text)]


def release(request_id: int) -> None:
    """Release ``request.completed``, once sealed PDFs and proof are stored: it is listed and sent from then on. Safe to
    repeat."""
    planned(_RELEASE, {"now": clock.now(), "request_id": request_id})
    planned(_PUBLISH, {"request_id": request_id})


def _event(entry: Entry, text: str) -> Event:
    return Event(
        entry=entry,
        organization_id=entry.organization_id,
        environment=entry.environment,
        request_id=entry.request_id,
        event_type=entry.event_type,
        payload=text,
        held=entry.event_type == EventType.COMPLETED,
    )


def _deliveries(entry: Entry, request: SignatureRequest, text: str) -> Iterator[Delivery]:
    application = request.application or application_for_web(request.organization_id, request.environment)
    if application is None:
        return
    for destination, url in _destinations(request, application.webhook_url, entry.event_type):
        status = DeliveryStatus.CAUGHT if destination == Destination.CATCHER else DeliveryStatus.WAITING
        if entry.event_type == EventType.COMPLETED:
            status = DeliveryStatus.HELD
        yield Delivery(
            application=application,
            request=request,
            entry=entry,
            destination=destination,
            url=url,
            endpoint=f"{application.pk} {origin_of(url)}"[:300],
            event_type=entry.event_type,
            occurred_at=entry.created_at,
            payload=text,
            status=status,
            due_at=entry.created_at,
            finished_at=entry.created_at if status == DeliveryStatus.CAUGHT else None,
            trace=structlog.contextvars.get_contextvars().get("request_id", ""),
        )


def _destinations(request: SignatureRequest, webhook_url: str, event_type: str) -> list[tuple[Destination, str]]:
    destinations = []
    if webhook_url:
        destinations.append((Destination.APPLICATION, webhook_url))
    elif request.environment == Environment.SANDBOX:
        destinations.append((Destination.CATCHER, ""))
    if request.callback_url and event_type in TERMINAL_EVENTS:
        destinations.append((Destination.CALLBACK, request.callback_url))
    return destinations
