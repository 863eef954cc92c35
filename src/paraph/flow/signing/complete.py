"""Completing a request: the last signer's transaction (specification 3.1, 6.3)."""

from datetime import datetime

from paraph.database.compiled_query import CompiledQuery
from paraph.database.rows import update
from paraph.flow import events
from paraph.queue.defer import defer
from paraph.signature_requests.models import RequestDocument, RequestStatus, SignatureRequest

_DOCUMENTS = CompiledQuery(RequestDocument.objects.all, "request")


def complete(request: SignatureRequest, moment: datetime) -> None:
    """Marks the request ``completed`` at the moment of the last signature, journals that and defers one job per
    document, which seals it.

    The caller holds the request's row lock and has seen under it that everybody signed, so that this happens once, in
    the transaction of the last signature.
    """
    request.status = RequestStatus.COMPLETED
    request.completed_at = moment
    update(request, "status", "completed_at")
    events.request_completed(request)
    if request.notify_signers_on_completion:
        defer("notify_completion", request_id=request.pk)
    for row in _DOCUMENTS.all(request.pk):
        defer("finalize", request_document_id=row.pk)
