"""Issuing the proof of a request: one sealed PDF per request (rule 2.2)."""

from django.conf import settings
from django.db import transaction

from paraph.database.joined import Joined
from paraph.evidence import failures
from paraph.evidence.record import certificate_facts, has_proof, record_proof_file
from paraph.flow import events
from paraph.flow.lock import lock_request
from paraph.flow.sealing.context import sealing_context
from paraph.flow.sealing.proof_content import proof_content
from paraph.kernel import clock
from paraph.metrics.metrics import count_seal, stage
from paraph.pdf.pki.purpose import proof_purpose
from paraph.pdf.sealing.seal import SealedPdf
from paraph.pdf.sealing.seal import seal as seal_pdf
from paraph.pdf.typesetting.proof import proof
from paraph.signature_requests.models import SignatureRequest
from paraph.storage import store
from paraph.storage.objects import folder_of

_REQUEST = Joined(SignatureRequest, "organization", "branding_profile", end='WHERE "self"."id" = %s')


def prove(request_id: int) -> None:
    """Typeset, seal and store the proof, and journal it.

    Every document must be sealed. Safe to repeat and to run twice at once, as :func:`paraph.flow.sealing.seal.seal` is.
    Raises ``DomainError``, ``SealError`` or ``OSError`` when the proof cannot be made now, and notes the cause.
    """
    if has_proof(request_id):
        return
    request = _REQUEST.get(request_id)
    with failures.noted(request_id, "prove"):
        sealed = _sealed(request)
        key = f"proofs/{folder_of(request_id)}/{request_id}-{sealed.sha256.hex()}.pdf"
        with stage("store"):
            store.put(key, sealed.content)
        if not _commit(request_id, sealed, key):
            store.delete(key)
            return
    timestamped, failed = sealed.timestamp is not None, len(sealed.timestamp_failures)
    count_seal("proof", sealed.method, level=sealed.level, timestamped=timestamped, timestamp_failures=failed)


def _sealed(request: SignatureRequest) -> SealedPdf:
    now = clock.now()
    context = sealing_context()
    purpose = proof_purpose(request.pk, request.environment)
    with stage("typeset"):
        typeset = proof(proof_content(request, now))
    with stage("seal"):
        return seal_pdf(
            typeset,
            key=context.key(purpose),
            purpose=purpose,
            timestamping=context.timestamping,
            long_term=context.long_term,
            reason=f"Proof of signature request {request.pk}",
            at=now,
        )


@transaction.atomic
def _commit(request_id: int, sealed: SealedPdf, key: str) -> bool:
    request = lock_request(request_id)
    if not record_proof_file(request, sealed, key, settings.PARAPH.seal_level):
        return False
    events.certificate_issued(request, certificate_facts(sealed))
    return True
