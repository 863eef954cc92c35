"""Take a request from completed to finalized: seal, prove and publish (rules 1 and 2.2)."""

from django.db import transaction

from paraph.database.compiled_query import CompiledQuery
from paraph.database.prepared_statements import prepared_cursor
from paraph.evidence import failures
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow.messages.tell_sender import owe_mail
from paraph.flow.sealing.prove import prove
from paraph.flow.sealing.seal import seal
from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.metrics.metrics import stage
from paraph.queue.defer import defer
from paraph.signature_requests.models import CopyRecipient
from paraph.storage import store
from paraph.tenants.models import MailKind
from paraph.webhooks import outbox

_SEALED = CompiledQuery(lambda: SealedDocument.objects.defer("seal"), "request_document__request")
_PROOF = CompiledQuery(lambda: ProofFile.objects.select_related("request").defer("seal"), "request")
_COPY_RECIPIENTS = CompiledQuery(CopyRecipient.objects.all, "request")

_FINALIZE = "UPDATE signature_requests_signaturerequest SET finalized = true WHERE id = %s AND NOT finalized"


def publish(request_id: int) -> None:
    """Mark the request ``finalized``, release its ``request.completed`` webhook, and queue the mail to its sender.

    Every sealed document and the proof must be in storage, byte for byte as they were sealed. Safe to repeat. Raises
    ``DomainError`` or ``OSError`` where a file is missing or is another one, and notes the cause.
    """
    proof = _PROOF.get(request_id)
    if proof.request.finalized:
        return
    with failures.noted(request_id, "publish"):
        for sealed in _SEALED.all(request_id):
            _check(sealed)
        _check(proof)
    with transaction.atomic():
        if _finalize(request_id):
            failures.clear(request_id)
            outbox.release(request_id)
            owe_mail(proof.request, MailKind.COMPLETED)
            if _COPY_RECIPIENTS.all(request_id):
                defer("mail_copies", request_id=request_id)


def _finalize(request_id: int) -> bool:
    """Return False where the request is finalized already. Locks its row as :func:`paraph.flow.lock.lock_request`
    does."""
    with prepared_cursor() as cursor:
        cursor.execute(_FINALIZE, [request_id])
        return bool(cursor.rowcount)


def _check(stored: SealedDocument | ProofFile) -> None:
    with stage("reread"):
        digest = tokens.sha256(store.get(stored.object_key))
    if digest != bytes(stored.sha256):
        raise DomainError("internal_error", f"The stored file {stored.object_key} is not the one that was sealed.")


def finalize(request_document_id: int) -> None:
    """Seal the document; after the last document of the request, issue the proof and publish the request.

    One job does all of this, because a job costs about as much as a seal. Safe to repeat and to run twice at once, as
    each step is: after a crash the job continues where it ended. Raises what the steps raise.
    """
    request_id = seal(request_document_id)
    if request_id is not None:
        prove(request_id)
        publish(request_id)
