"""Sealing one document of a completed request (rules 1, 6.3)."""

import hashlib
from dataclasses import replace
from typing import cast

from django.conf import settings
from django.db import transaction

from paraph.database.joined import Joined
from paraph.documents.remarks import preparation_facts
from paraph.evidence import failures
from paraph.evidence.record import all_sealed, is_sealed, record_sealed_document, seal_facts
from paraph.flow import events
from paraph.flow.lock import lock_request
from paraph.flow.sealing.context import sealing_context
from paraph.flow.sealing.stamp_marks import stamp_marks
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.metrics.metrics import count_seal, stage
from paraph.pdf.pki.purpose import document_purpose
from paraph.pdf.sealing.seal import SealedPdf
from paraph.pdf.sealing.seal import seal as seal_pdf
from paraph.pdf.structure.normalise import Method
from paraph.pdf.untrusted.sandboxed_draft import sandboxed_drafts
from paraph.signature_requests.models import RequestDocument
from paraph.storage import store
from paraph.storage.objects import folder_of

_ROW = Joined(RequestDocument, "request", "document", end='WHERE "self"."id" = %s', deferred={"document__preflight"})


def seal(request_document_id: int) -> int | None:
    """Stamp, seal and store the document, and journal that. Return the id of the request once all its documents are
    sealed, else None.

    Safe to repeat and to run twice at once: the first to commit has made the seal, the other removes its own file. Does
    nothing once retention has deleted the files. Raises ``DomainError``, ``SealError`` or ``OSError`` when it cannot be
    done now, and notes the cause.
    """
    row = _ROW.get(request_document_id)
    if row.request.files_deleted_at:
        return None
    missing = not is_sealed(row.pk)
    if missing:
        _seal(row)
    if not all_sealed(row.request_id):
        return None
    if missing:
        failures.clear(row.request_id)
    return row.request_id


def _seal(row: RequestDocument) -> None:
    with failures.noted(row.request_id, "seal"):
        sealed = _sealed(row)
        key = f"sealed/{folder_of(row.request_id)}/{row.request_id}-{row.pk}-{sealed.sha256.hex()}.pdf"
        with stage("store"):
            store.put(key, sealed.content)
        if not _commit(row, sealed, key):
            store.delete(key)
            return
    timestamped, failed = sealed.timestamp is not None, len(sealed.timestamp_failures)
    count_seal("document", sealed.method, level=sealed.level, timestamped=timestamped, timestamp_failures=failed)


def _sealed(row: RequestDocument) -> SealedPdf:
    document = row.document
    content = store.get(document.shown_key)
    hashed = hashlib.sha256(content)
    if hashed.digest() != document.shown_sha256:
        raise DomainError("internal_error", f"The stored file of document {document.pk} is not the one that was shown.")
    context = sealing_context()
    purpose = document_purpose(row.request_id, row.request.environment)
    with stage("typeset"):
        drawn = stamp_marks(row)
    with stage("seal"):
        sealed = seal_pdf(
            content,
            key=context.key(purpose),
            purpose=purpose,
            timestamping=context.timestamping,
            long_term=context.long_term,
            appearances=drawn.appearances,
            marks=drawn.marks,
            page_overlay=drawn.page_overlay,
            clean_contents=document.clean_contents,
            reason=f"Signed by all signers of request {row.request_id}",
            at=clock.now(),
            drafts=sandboxed_drafts,
            hashed=hashed,
        )
    return sealed if document.prepared_sha256 is None else replace(sealed, method=cast(Method, document.method))


@transaction.atomic
def _commit(row: RequestDocument, sealed: SealedPdf, key: str) -> bool:
    request = lock_request(row.request_id)
    if request.files_deleted_at or not record_sealed_document(row, sealed, key, settings.PARAPH.seal_level):
        return False
    row.request = request
    events.pades_signed(row, {**seal_facts(sealed), **preparation_facts(row.document)})
    return True
