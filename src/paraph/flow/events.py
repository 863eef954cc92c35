"""Recording events of a request, under the row lock that whoever changes it holds: each function writes the journal
entry of one event with its metadata (rule 6.2), what the API lists of it, and its webhook deliveries (6.1).

The caller holds the lock, has changed request and signer as the event says, and commits both together. Every
transaction locks in this order: request, signer, code.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from paraph.audit_trail.journal import SERVICE, Origin, correction, follow
from paraph.audit_trail.models import EventType
from paraph.database.rows import Joined, insert
from paraph.kernel import clock
from paraph.signature_requests.links import ReplacedLinkError
from paraph.signature_requests.models import CopyRecipient, RequestDocument, SignatureRequest, Signer
from paraph.webhooks import outbox

_REQUEST = Joined(SignatureRequest, "application", end='WHERE "self"."id" = %s FOR NO KEY UPDATE OF "self"')
# PostgreSQL locks the tables of a joined row in the order in which they are named here.
_SIGNER = Joined(
    Signer, "request", "request__application", end='WHERE "self"."id" = %s FOR NO KEY UPDATE OF "request", "self"'
)


def lock_request(request_id: int) -> SignatureRequest:
    """Read the request and lock its row until the transaction ends. Whoever changes a request's state or writes to its
    journal holds this lock. Its application, whose URL webhooks go to, is read with it."""
    return _REQUEST.get(request_id)


def lock_signer(signer_id: int) -> Signer:
    """Read the signer and lock first the request's row, then the signer's, until the transaction ends."""
    return _SIGNER.get(signer_id)


def lock_holder(signer: Signer) -> Signer:
    """Read and lock, as :func:`lock_signer` does, a signer who came by a link. Raise :class:`ReplacedLinkError` where
    the link was replaced meanwhile."""
    locked = lock_signer(signer.pk)
    if locked.replaced_links != signer.replaced_links:
        raise ReplacedLinkError(locked.request)
    return locked


def signer_notified(signer: Signer, acknowledgement: str, *, reminder: bool = False) -> None:
    facts = {"channel": "email", "recipient": signer.email, "acknowledgement": acknowledgement}
    facts |= _if_so(reminder=reminder)
    _record(signer.request, EventType.SIGNER_NOTIFIED, signer, metadata=facts)


def delivery_failed(to: Signer | CopyRecipient, channel: str, recipient: str, mail: str, answer: str) -> None:
    """Record that a message was refused for good. ``mail``: its name, which begins with its kind."""
    signer, kind = to if isinstance(to, Signer) else None, mail.partition("-")[0]
    facts = {"channel": channel, "recipient": recipient, "message": kind, "answer": answer}
    _record(to.request, EventType.DELIVERY_FAILED, signer, metadata=facts | _if_so(copies=signer is None))


def signer_corrected(signer: Signer, old: Mapping[str, str], new: Mapping[str, str], origin: Origin) -> None:
    """Record a correction of what is known of the signer: commitments to the values, never the values themselves."""
    _record(signer.request, EventType.CORRECTED, signer, origin, correction(old, new))


def request_extended(request: SignatureRequest, earlier: datetime, origin: Origin) -> None:
    facts = {"extended_from": clock.iso(earlier), "extended_to": clock.iso(request.expires_at)}
    _record(request, EventType.EXTENDED, origin=origin, metadata=facts)


def otp_sent(
    signer: Signer, channel: str, recipient: str, *, resend: bool, acknowledgement: str, origin: Origin
) -> None:
    facts = {"provider": channel, "recipient": recipient, "resend": resend, "acknowledgement": acknowledgement}
    _record(signer.request, EventType.OTP_SENT, signer, origin, facts)


def signer_signed(
    signer: Signer,
    consent_notice: str,
    documents_count: int,
    origin: Origin,
    *,
    fields: Sequence[dict[str, Any]] = (),
    member_id: int | None = None,
    sandbox_act: bool = False,
) -> None:
    """Record a signature. ``fields``: ``document_id``, ``name``, ``type`` and ``value`` of each field; ``member_id``:
    on whose device the signer signed in person, None for the signer's own."""
    facts = {"consent_notice": consent_notice, "documents_count": documents_count, "locale": signer.locale}
    facts |= _if_so(fields=list(fields), role=signer.role if signer.is_approver else "", sandbox_act=sandbox_act)
    facts |= _if_so(in_person=member_id is not None, member_id=member_id)
    _record(signer.request, EventType.SIGNED, signer, origin, facts, moment=signer.signed_at)


def request_completed(request: SignatureRequest) -> None:
    _record(request, EventType.COMPLETED, moment=request.completed_at)


def completion_notified(request: SignatureRequest, recipients: list[str], kept: int, *, copies: bool = False) -> None:
    """Record that the summary or, with ``copies``, copies were mailed. ``kept``: how many of the mails were
    captured."""
    facts = {"channel": "email", "recipients": recipients, **_if_so(copies=copies, kept=kept)}
    _record(request, EventType.COMPLETION_NOTIFIED, metadata=facts)


def request_expired(request: SignatureRequest, *, sandbox_act: bool = False) -> None:
    facts = {"expires_at": clock.iso(request.expires_at), **_if_so(sandbox_act=sandbox_act)}
    _record(request, EventType.EXPIRED, metadata=facts)


def request_ended_early(request: SignatureRequest, reason: str) -> None:
    """Record an early end. Webhooks state ``ended_early`` and ``reason``, too, so that receivers can tell it from an
    expiry."""
    stated = {"ended_early": True, "reason": reason}
    facts = {"expires_at": clock.iso(request.expires_at), **stated}
    _record(request, EventType.EXPIRED, metadata=facts, moment=request.ended_early_at, stated=stated)


def request_declined(signer: Signer, reason: str, origin: Origin, *, sandbox_act: bool = False) -> None:
    """Record that a signer declined. Webhooks state the same as of any early end, and the signer's id; everything else
    about the signer stands in the journal alone, where it can be erased."""
    request = signer.request
    stated = {"ended_early": True, "reason": reason, "declined": True, "signer_id": signer.pk}
    facts = {"expires_at": clock.iso(request.expires_at), **stated, **_if_so(sandbox_act=sandbox_act)}
    _record(request, EventType.EXPIRED, signer, origin, facts, moment=request.ended_early_at, stated=stated)


def pades_signed(request_document: RequestDocument, facts: dict[str, Any]) -> None:
    """Record the seal of a document. ``facts`` are those of :func:`paraph.evidence.sealed_files.seal_facts`."""
    facts = {"document_id": request_document.document_id, **facts}
    _record(request_document.request, EventType.PADES_SIGNED, metadata=facts)


def certificate_issued(request: SignatureRequest, facts: dict[str, Any]) -> None:
    _record(request, EventType.CERTIFICATE_ISSUED, metadata=facts)


def _if_so(**facts: Any) -> dict[str, Any]:
    """Return the facts that are true or not empty: metadata leave out the others."""
    return {name: fact for name, fact in facts.items() if fact}


def _record(
    request: SignatureRequest,
    event_type: EventType,
    signer: Signer | None = None,
    origin: Origin = SERVICE,
    metadata: dict[str, Any] | None = None,
    *,
    moment: datetime | None = None,
    stated: dict[str, Any] | None = None,
) -> None:
    """Write the journal entry, the event and its deliveries; ``stated``: the part of the metadata that webhooks state
    as well. Webhooks name the signer only of events about a signer, which the end of a request is not."""
    signer_id = signer.pk if signer else None
    entry = follow(request, event_type, signer_id=signer_id, origin=origin, metadata=metadata, moment=moment)
    of_signer = signer if event_type != EventType.EXPIRED else None
    insert([entry, *outbox.event_and_deliveries(entry, request, of_signer, stated)])
