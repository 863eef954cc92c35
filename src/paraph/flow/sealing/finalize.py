"""Take a request from completed to finalized: seal, prove and publish (rules 1 and 2.2)."""

from django.db import transaction

from paraph.database.joined import Joined
from paraph.evidence import failures
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow.messages.tell_sender import owe_mail
from paraph.flow.sealing.prove import prove
from paraph.flow.sealing.seal import seal
from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.metrics.metrics import stage
from paraph.queue.jobs import defer
from paraph.signature_requests.models import SignatureRequest
from paraph.storage import store
from paraph.tenants.models import MailKind
from paraph.webhooks import outbox

_PROOF = Joined(ProofFile, "request", end='WHERE "self"."request_id" = %s', deferred={"seal"})


def publish(request_id: int) -> None:
    """Mark the request ``finalized``, release its ``request.completed`` webhook, and queue the mail to its sender.

    Every sealed document and the proof must be in storage, byte for byte as they were sealed. Safe to repeat. Raises
    ``DomainError`` or ``OSError`` where a file is missing or is another one, and notes the cause.
    """
    proof = _PROOF.get(request_id)
    if proof.request.finalized:
        return
    with failures.noted(request_id, "publish"):
        for sealed in SealedDocument.objects.defer("seal").filter(request_document__request=request_id):
            _check(sealed)
        _check(proof)
    with transaction.atomic():
        # a conditional update locks the row as ``lock_request`` does
        if SignatureRequest.objects.filter(pk=request_id, finalized=False).update(finalized=True):
            failures.clear(request_id)
            outbox.release(request_id)
            owe_mail(proof.request, MailKind.COMPLETED)
            if proof.request.has_copies:
                defer("mail_copies", request_id=request_id)


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
