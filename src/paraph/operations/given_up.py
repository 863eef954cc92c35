"""Completed requests that a fault keeps from being finalized and that no job tries again."""

from collections.abc import Collection

from django.db import connection

from paraph.evidence.models import SealingFailure

# A document without a seal needs a live job of its own; once all have theirs, any job of one brings the rest.
_GIVEN_UP = """
    SELECT request.id FROM signature_requests_signaturerequest request
    WHERE request.id = ANY(%s) AND NOT request.finalized AND (
        EXISTS (
            SELECT FROM signature_requests_requestdocument document
            WHERE document.request_id = request.id
                AND NOT EXISTS (SELECT FROM evidence_sealeddocument WHERE request_document_id = document.id)
                AND NOT EXISTS (SELECT FROM live WHERE request_document_id = document.id)
        ) OR NOT EXISTS (
            SELECT FROM signature_requests_requestdocument document
            JOIN live ON live.request_document_id = document.id WHERE document.request_id = request.id
        )
    )
"""
_LIVE = """
    WITH live AS MATERIALIZED (
        SELECT (args->>'request_document_id')::bigint AS request_document_id FROM procrastinate_jobs
        WHERE task_name = 'paraph.flow.jobs.finalize' AND status IN ('todo', 'doing')
    )
"""


def given_up(request_ids: Collection[int] | None = None) -> set[int]:
    """The ids of the requests that wait for ``paraph request retry``, among those given or among all.

    A request has given up when no live job in the queue can bring what it lacks, whether that job failed or was lost.
    The queue is read only while something fails.
    """
    failing = SealingFailure.objects.all()
    if request_ids is not None:
        failing = failing.filter(request_id__in=request_ids)
    ids = list(failing.values_list("request_id", flat=True))
    if not ids:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(_LIVE + _GIVEN_UP, [ids])
        return {request_id for (request_id,) in cursor.fetchall()}
