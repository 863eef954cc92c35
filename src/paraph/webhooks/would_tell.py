"""What webhooks state of a request, also where its application has no webhook URL and nothing is recorded."""

from collections.abc import Sequence
from copy import copy
from datetime import datetime
from typing import NamedTuple

from paraph.journal.event_types import EventType
from paraph.journal.models import Entry
from paraph.signature_requests.models import RequestStatus, SignatureRequest, Signer, SignerStatus
from paraph.webhooks.models import Delivery, DeliveryStatus
from paraph.webhooks.of_application import Signed, signed
from paraph.webhooks.payload import EVENTS, payload

_TOLD = ("ended_early", "reason")


class Statement(NamedTuple):
    """``sent`` is None while the results are not sealed that it links to."""

    event_type: str
    occurred_at: datetime
    sent: Signed | None

    @property
    def body(self) -> str:
        return self.sent.body.decode() if self.sent else ""


def would_tell(request: SignatureRequest, signers: Sequence[Signer], attempt_id: str) -> list[Statement]:
    """Goes through the journal of a request with an application: each event with request and signers as it left them,
    and with the headers and the body of a delivery that is sent now, in an attempt of that id. The caller has found
    the request among their own."""
    now = _Then(request, signers)
    statements = []
    for entry in Entry.objects.filter(request=request).order_by("position"):
        now.move_on(entry)
        if entry.event_type in EVENTS:
            statements.append(_statement(request, entry, now, attempt_id))
    return statements


class _Then:
    """Request and signers, as they were at an entry of the journal."""

    def __init__(self, request: SignatureRequest, signers: Sequence[Signer]) -> None:
        self.request = copy(request)
        self.signers = {signer.pk: copy(signer) for signer in signers}
        self.request.status = RequestStatus.PENDING
        for signer in self.signers.values():
            signer.status = SignerStatus.PENDING

    def move_on(self, entry: Entry) -> None:
        signer = self.signers.get(entry.signer_id or 0)
        if entry.event_type == EventType.COMPLETED:
            self.request.status = RequestStatus.COMPLETED
        elif entry.event_type == EventType.EXPIRED:
            self.request.status = RequestStatus.EXPIRED
        elif signer and entry.event_type == EventType.SIGNED:
            signer.status = SignerStatus.SIGNED
        elif signer and entry.event_type == EventType.SIGNER_NOTIFIED and signer.status == SignerStatus.PENDING:
            signer.status = SignerStatus.NOTIFIED


def _statement(request: SignatureRequest, entry: Entry, then: _Then, attempt_id: str) -> Statement:
    told = {field: entry.metadata[field] for field in _TOLD if field in entry.metadata}
    signer = then.signers.get(entry.signer_id or 0)
    text = payload(entry.event_type, entry.created_at, then.request, signer, told)
    is_held = entry.event_type == EventType.COMPLETED and not request.finalized
    delivery = Delivery(
        request=request,
        event_type=entry.event_type,
        payload=text,
        status=DeliveryStatus.HELD if is_held else DeliveryStatus.WAITING,
    )
    assert request.application
    return Statement(entry.event_type, entry.created_at, signed(request.application, delivery, attempt_id))
