"""Recording events, as the API lists them, and their deliveries, in the transaction of what happened; the body of a
delivery, and the headers that sign it (rule 6.1).

The body has its own fields of a request and of a signer, beside those of
:mod:`paraph.api.v1.signature_request_shapes`: the two contracts change apart.
"""

import hashlib
import hmac
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import structlog
from django.db.models import Model

from paraph.audit_trail.models import Entry, EventType
from paraph.database.base import planned
from paraph.evidence.models import ProofFile
from paraph.evidence.sealed_files import proof_name
from paraph.kernel import clock
from paraph.outbound.url import origin_of
from paraph.pdf.asic import signed_name
from paraph.signature_requests.models import RequestDocument, SignatureRequest, Signer
from paraph.storage import store
from paraph.tenants.models import Environment
from paraph.tenants.organizations import application_for_web
from paraph.webhooks.delivery_queue import ClaimedDelivery
from paraph.webhooks.models import Delivery, DeliveryStatus, Destination, Event

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
    """Return the event of a journal entry and its deliveries, to be inserted with it: one to the application's URL, and
    for a terminal event one to the request's callback (rule 6.4); neither for types without webhooks (6.2). Events of
    dashboard requests go to the application that the organization chose. ``request`` and ``signer`` are as the event
    left them; ``metadata`` is stated beside the request. ``request.completed`` is held until :func:`release`."""
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


_SIGNATURE_HEADERS = ("X-Service-Signature", "X-Service-Signature-Next")
_LARGE = ("document__preflight", "document__pages")

SIGNER_EVENTS = (EventType.SIGNER_NOTIFIED, EventType.OTP_SENT, EventType.SIGNED)
TERMINAL_EVENTS = (EventType.COMPLETED, EventType.EXPIRED)
EVENTS = SIGNER_EVENTS + TERMINAL_EVENTS
TEST_EVENT = "webhook.test"


def payload(
    event_type: str,
    occurred_at: datetime,
    request: SignatureRequest,
    signer: Signer | None,
    metadata: dict[str, Any] | None = None,
) -> str:
    """Return the JSON text that states the event as of now. :func:`body` adds presigned URLs when it is sent."""
    content: dict[str, Any] = {
        "event": event_type,
        "occurred_at": clock.iso(occurred_at),
        "signature_request": {"id": request.pk, "status": str(request.status), "mode": str(request.mode)},
    }
    own = {"external_id": request.external_id, "metadata": request.metadata}
    content["signature_request"] |= {name: value for name, value in own.items() if value}
    if metadata:
        content["metadata"] = metadata
    if signer is not None:
        content["signer"] = {
            "id": signer.pk,
            "first_name": signer.first_name,
            "last_name": signer.last_name,
            "full_name": f"{signer.first_name} {signer.last_name}",
            "email": signer.email,
            "status": str(signer.status),
        }
    return _text(content)


def payload_of_test(occurred_at: datetime) -> str:
    """Return the JSON text of a test: the fields that every event has, of a request that does not exist."""
    nobodys = {"id": 0, "status": "pending", "mode": "parallel"}
    return _text({"event": TEST_EVENT, "occurred_at": clock.iso(occurred_at), "signature_request": nobodys})


def body(event_type: str, stored: str, request_id: int | None) -> bytes:
    """Return the bytes to send and to sign: the stored payload, for ``request.completed`` with fresh links. Raise
    ``ProofFile.DoesNotExist`` where the request is not sealed."""
    if event_type != EventType.COMPLETED or request_id is None:
        return stored.encode()
    [of_request] = links([request_id]).values()
    kept = SignatureRequest.objects.filter(pk=request_id, files_deleted_at=None)
    if of_request["certificate_url"] is None and kept.exists():
        raise ProofFile.DoesNotExist
    return _text({**json.loads(stored), **of_request}).encode()


def links(request_ids: Collection[int]) -> dict[int, dict[str, Any]]:
    """Return the fresh links that the bodies of ``request.completed`` of these sealed requests state beside what is
    stored, in two queries."""
    proofs = {proof.request_id: proof for proof in ProofFile.objects.filter(request__in=request_ids)}
    documents: dict[int, list[RequestDocument]] = {request_id: [] for request_id in request_ids}
    for row in RequestDocument.objects.select_related("document", "sealed").defer(*_LARGE).filter(request__in=proofs):
        documents[row.request_id].append(row)
    return {request_id: _links(documents[request_id], proofs.get(request_id)) for request_id in request_ids}


def _links(documents: Iterable[RequestDocument], proof: ProofFile | None) -> dict[str, Any]:
    """Make presigned links to the results; none where the files have been deleted since."""
    if proof is None:
        return {"documents": [], "certificate_url": None, "certificate_expires_in": None}
    return {
        "documents": [
            {
                "document_id": row.document_id,
                "signed_url": store.presign(row.sealed.object_key, signed_name(row.document.name)),
                "expires_in": store.LINK_SECONDS,
            }
            for row in documents
        ],
        "certificate_url": store.presign(proof.object_key, proof_name(proof.request_id)),
        "certificate_expires_in": store.LINK_SECONDS,
    }


def _text(content: dict[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


class Signed(NamedTuple):
    """What is sent: ``body`` are the bytes that the signatures in ``headers`` are made over."""

    headers: dict[str, str]
    body: bytes


def sign(event: Delivery | ClaimedDelivery, attempt_id: str, secrets: Sequence[str]) -> Signed:
    """Return what is sent of a delivery, with links that are valid from now on, signed with one secret, or during a
    rotation with two. A test, which has no journal entry, is event 0. Raise as :func:`body` does."""
    content = body(event.event_type, event.payload, event.request_id)
    signatures = zip(_SIGNATURE_HEADERS, (signature(secret, content) for secret in secrets), strict=False)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Paraph-Webhooks/1",
        "X-Service-Event": event.event_type,
        "X-Service-Event-Id": str(event.entry_id or 0),
        "X-Service-Delivery": attempt_id,
        **dict(signatures),
    }
    return Signed(headers, content)


def signature(secret: str, content: bytes) -> str:
    """Return the HMAC-SHA256 of the raw body, as ``sha256=<hex>``."""
    return f"sha256={hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()}"
