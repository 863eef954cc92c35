"""Take a request from completed to finalized: seal, prove and publish (rules 1, 2.2 and 6.3)."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from django.conf import settings
from django.db import transaction

from paraph.database.rows import Joined
from paraph.evidence import failures
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.evidence.sealed_files import (
    certificate_facts,
    has_proof,
    record_proof_file,
    record_sealed_document,
    seal_facts,
)
from paraph.flow import events
from paraph.flow.events import lock_request
from paraph.flow.messages.sent_once import queue_mail
from paraph.flow.sealing.context import sealing_context
from paraph.flow.sealing.proof_content import proof_content
from paraph.flow.sealing.stamp_marks import stamp_marks
from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.metrics.metrics import count_seal, stage
from paraph.pdf.pki.purpose import Purpose, document_purpose, proof_purpose
from paraph.pdf.sealing.seal import SealedPdf
from paraph.pdf.sealing.seal import seal as seal_pdf
from paraph.pdf.structure.normalise import Method
from paraph.pdf.typesetting.proof import proof
from paraph.pdf.untrusted.sandboxed_draft import sandboxed_drafts
from paraph.queue.jobs import defer
from paraph.signature_requests.models import RequestDocument, SignatureRequest
from paraph.storage import store
from paraph.storage.objects import folder_of
from paraph.tenants.models import MailKind
from paraph.webhooks import outbox

_DOCUMENT = Joined(
    RequestDocument, "request", "document", end='WHERE "self"."id" = %s', deferred={"document__preflight"}
)
_REQUEST = Joined(SignatureRequest, "organization", "branding_profile", end='WHERE "self"."id" = %s')
_PROOF = Joined(ProofFile, "request", end='WHERE "self"."request_id" = %s')


def finalize(request_document_id: int) -> None:
    """Seal the document; after the last document of the request, issue the proof and publish the request. One job does
    all of this, because a job costs about as much as a seal. Safe to repeat and to run twice at once, as each step is:
    after a crash the job continues where it ended. Raise what the steps raise."""
    request_id = seal(request_document_id)
    if request_id is not None:
        prove(request_id)
        publish(request_id)


def seal(request_document_id: int) -> int | None:
    """Stamp, seal and store the document, and journal that. Return the id of the request once all its documents are
    sealed, else None. Safe to repeat and to run twice at once: the first to commit has made the seal, the other removes
    its own file. Do nothing once retention has deleted the files. Raise ``DomainError``, ``SealError`` or ``OSError``
    when it cannot be done now, and note the cause."""
    row = _DOCUMENT.get(request_document_id)
    if row.request.files_deleted_at:
        return None
    missing = not SealedDocument.objects.filter(request_document=row.pk).exists()
    if missing:
        _store(
            row.request_id,
            "document",
            lambda: _sealed_document(row),
            f"sealed/{folder_of(row.request_id)}/{row.request_id}-{row.pk}",
            lambda sealed, key: _commit_document(row, sealed, key),
        )
    if RequestDocument.objects.filter(request=row.request_id, sealed=None).exists():
        return None
    if missing:
        failures.clear(row.request_id)
    return row.request_id


def prove(request_id: int) -> None:
    """Typeset, seal and store the proof, one sealed PDF per request, and journal it. Every document must be sealed.
    Safe to repeat and to run twice at once. Raise as :func:`seal` does."""
    if not has_proof(request_id):
        request = _REQUEST.get(request_id)
        key = f"proofs/{folder_of(request_id)}/{request_id}"
        _store(request_id, "proof", lambda: _sealed_proof(request), key, lambda *made: _commit_proof(request_id, *made))


def _store(
    request_id: int,
    kind: str,
    make: Callable[[], SealedPdf],
    key_begins: str,
    commit: Callable[[SealedPdf, str], bool],
) -> None:
    """Make the sealed file and store it under a key of its own, with its digest. Delete it again where another process
    was first to ``commit``."""
    with failures.noted(request_id, "prove" if kind == "proof" else "seal"):
        sealed = make()
        key = f"{key_begins}-{sealed.sha256.hex()[:16]}.pdf"  # enough that no two of a request share a key
        with stage("store"):
            store.put(key, sealed.content)
        if not commit(sealed, key):
            store.delete(key)
            return
    timestamped, failed = sealed.timestamp is not None, len(sealed.timestamp_failures)
    count_seal(kind, sealed.method, level=sealed.level, timestamped=timestamped, timestamp_failures=failed)


def _sealed_document(row: RequestDocument) -> SealedPdf:
    document = row.document
    content = store.get(document.shown_key)
    hashed = hashlib.sha256(content)
    if hashed.digest() != document.shown_sha256:
        raise DomainError("internal_error", f"The stored file of document {document.pk} is not the one that was shown.")
    with stage("typeset"):
        drawn = stamp_marks(row)
    sealed = _sealed(
        content,
        document_purpose(row.request_id, row.request.environment),
        clock.now(),
        f"Signed by all signers of request {row.request_id}",
        appearances=drawn.appearances,
        marks=drawn.marks,
        page_overlay=drawn.page_overlay,
        clean_contents=document.clean_contents,
        drafts=sandboxed_drafts,
        hashed=hashed,
    )
    return sealed if document.prepared_sha256 is None else replace(sealed, method=cast(Method, document.method))


@transaction.atomic
def _commit_document(row: RequestDocument, sealed: SealedPdf, key: str) -> bool:
    request = lock_request(row.request_id)
    if request.files_deleted_at or not record_sealed_document(row, sealed, key, settings.PARAPH.seal_level):
        return False
    row.request = request
    events.pades_signed(row, {**seal_facts(sealed), **row.document.preparation_facts()})
    return True


def _sealed_proof(request: SignatureRequest) -> SealedPdf:
    now = clock.now()
    with stage("typeset"):
        typeset = proof(proof_content(request, now))
    purpose = proof_purpose(request.pk, request.environment)
    return _sealed(typeset, purpose, now, f"Proof of signature request {request.pk}")


def _sealed(content: bytes, purpose: Purpose, at: datetime, reason: str, **more: Any) -> SealedPdf:
    context = sealing_context()
    with stage("seal"):
        return seal_pdf(
            content,
            key=context.key(purpose),
            purpose=purpose,
            timestamping=context.timestamping,
            long_term=context.long_term,
            reason=reason,
            at=at,
            **more,
        )


@transaction.atomic
def _commit_proof(request_id: int, sealed: SealedPdf, key: str) -> bool:
    request = lock_request(request_id)
    if not record_proof_file(request, sealed, key, settings.PARAPH.seal_level):
        return False
    events.certificate_issued(request, certificate_facts(sealed))
    return True


def publish(request_id: int) -> None:
    """Mark the request ``finalized``, release its ``request.completed`` webhook, and queue the mail to its sender.
    Every sealed document and the proof must be in storage, byte for byte as they were sealed. Safe to repeat. Raise
    ``DomainError`` or ``OSError`` where a file is missing or is another one, and note the cause."""
    proof = _PROOF.get(request_id)
    if proof.request.finalized:
        return
    with failures.noted(request_id, "publish"):
        for sealed in SealedDocument.objects.filter(request_document__request=request_id):
            _check(sealed)
        _check(proof)
    with transaction.atomic():
        # a conditional update locks the row as ``lock_request`` does
        if SignatureRequest.objects.filter(pk=request_id, finalized=False).update(finalized=True):
            failures.clear(request_id)
            outbox.release(request_id)
            queue_mail(proof.request, MailKind.COMPLETED)
            if proof.request.has_copies:
                defer("mail_copies", request_id=request_id)


def _check(stored: SealedDocument | ProofFile) -> None:
    with stage("reread"):
        digest = tokens.sha256(store.get(stored.object_key))
    if digest != bytes(stored.sha256):
        raise DomainError("internal_error", f"The stored file {stored.object_key} is not the one that was sealed.")
