"""What happens to a request, told once: each function writes the journal entry of one event with the metadata
that specification 6.2 names for it, and the webhook deliveries that it has (6.1).

The caller holds the request's row lock and commits the change of state with it; request and signer are as the event
left them.
"""

from datetime import datetime
from typing import Any

from paraph.database.rows import insert
from paraph.journal.append import SERVICE, Origin, follow
from paraph.kernel import clock
from paraph.signature_requests.models import RequestDocument, SignatureRequest, Signer
from paraph.webhooks import outbox


def signer_notified(signer: Signer, acknowledgement: str) -> None:
    facts = {"channel": "email", "recipient": signer.email, "acknowledgement": acknowledgement}
    _tell(signer.request, "signer.notified", signer, metadata=facts)


def otp_sent(
    signer: Signer, channel: str, recipient: str, *, resend: bool, acknowledgement: str, origin: Origin
) -> None:
    facts = {"provider": channel, "recipient": recipient, "resend": resend, "acknowledgement": acknowledgement}
    _tell(signer.request, "signer.otp_sent", signer, origin, facts)


def signer_signed(signer: Signer, consent_notice: str, documents_count: int, origin: Origin) -> None:
    facts = {"consent_notice": consent_notice, "documents_count": documents_count, "locale": signer.locale}
    _tell(signer.request, "signer.signed", signer, origin, facts, moment=signer.signed_at)


def request_completed(request: SignatureRequest) -> None:
    _tell(request, "request.completed", moment=request.completed_at)


def completion_notified(request: SignatureRequest, recipients: list[str]) -> None:
    _tell(request, "request.completion_notified", metadata={"channel": "email", "recipients": recipients})


def request_expired(request: SignatureRequest) -> None:
    _tell(request, "request.expired", metadata={"expires_at": clock.iso(request.expires_at)})


def pades_signed(request_document: RequestDocument, facts: dict[str, Any]) -> None:
    """``facts``: :func:`paraph.evidence.facts.seal_facts`."""
    facts = {"document_id": request_document.document_id, **facts}
    _tell(request_document.request, "signature_request.pades_signed", metadata=facts)


def certificate_issued(request: SignatureRequest, facts: dict[str, Any]) -> None:
    _tell(request, "signature_request.certificate_issued", metadata=facts)


def _tell(
    request: SignatureRequest,
    event_type: str,
    signer: Signer | None = None,
    origin: Origin = SERVICE,
    metadata: dict[str, Any] | None = None,
    *,
    moment: datetime | None = None,
) -> None:
    signer_id = signer.pk if signer else None
    entry = follow(request, event_type, signer_id=signer_id, origin=origin, metadata=metadata, moment=moment)
    insert([entry, *outbox.deliveries(request, event_type, signer, entry.created_at)])
