"""The last step: what was stored is opened again, validated, and only then offered (``finalized``)."""

from django.db import transaction

from paraph.evidence import failures
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow.lock import lock_request
from paraph.flow.sealing_context import sealing_context
from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.measures.figures import stage
from paraph.pdf.verify import verify
from paraph.signature_requests.models import SignatureRequest
from paraph.storage import store
from paraph.webhooks import outbox


def publish(request_id: int) -> None:
    """Marks the request ``finalized`` once every sealed document and the proof are in storage, unchanged and with a
    seal that is intact, trusted and covers the whole file; then its ``request.completed`` webhook may go.

    Safe to repeat. Raises ``DomainError`` or ``OSError`` otherwise; the cause is noted.
    """
    if SignatureRequest.objects.filter(pk=request_id, finalized=True).exists():
        return
    with failures.noted(request_id, "publish"):
        for sealed in SealedDocument.objects.filter(request_document__request_id=request_id):
            _check(sealed)
        _check(ProofFile.objects.get(request_id=request_id))
    with transaction.atomic():
        request = lock_request(request_id)
        if not request.finalized:
            request.finalized = True
            request.save(update_fields=["finalized"])
            failures.clear(request_id)
            outbox.release(request)


def _check(stored: SealedDocument | ProofFile) -> None:
    content = store.get(stored.object_key)
    if tokens.sha256(content) != bytes(stored.sha256):
        raise DomainError("internal_error", f"The stored file {stored.object_key} is not the one that was sealed.")
    with stage("verify"):
        found = verify(content, sealing_context().roots)
    if not (found.ok and found.covers_whole_file):
        raise DomainError(
            "internal_error", f"The seal of {stored.object_key} does not validate: {' '.join(found.findings)}"
        )
