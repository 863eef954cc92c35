"""Recording sealed documents and proof files, one each, also if two workers make one at the same time."""

from typing import Any

from paraph.database.prepared_statements import prepared_cursor
from paraph.database.rows import insert_once
from paraph.evidence.facts import exact_facts
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.evidence.preservation import first_due
from paraph.pdf.report import Level
from paraph.pdf.sealing.seal import SealedPdf
from paraph.signature_requests.models import RequestDocument, SignatureRequest

_UNSEALED = """
    SELECT FROM signature_requests_requestdocument listed WHERE listed.request_id = %s
    AND NOT EXISTS (SELECT FROM evidence_sealeddocument sealed WHERE sealed.request_document_id = listed.id) LIMIT 1
"""


def record_sealed_document(row: RequestDocument, sealed: SealedPdf, object_key: str, wanted: Level) -> bool:
    """Inserts the row of a sealed document; returns False where it is sealed already.

    ``wanted`` is the level of the settings. The caller holds the request's row lock.
    """
    return insert_once(SealedDocument(request_document=row, **_facts(sealed, object_key, wanted)))


def record_proof_file(request: SignatureRequest, sealed: SealedPdf, object_key: str, wanted: Level) -> bool:
    """Inserts the row of a proof; returns False where the request has one already. Else as
    :func:`record_sealed_document`."""
    return insert_once(ProofFile(request=request, **_facts(sealed, object_key, wanted)))


def all_sealed(request_id: int) -> bool:
    """Returns whether every document of the request is sealed."""
    with prepared_cursor() as cursor:
        cursor.execute(_UNSEALED, [request_id])
        return cursor.fetchone() is None


def _facts(sealed: SealedPdf, object_key: str, wanted: Level) -> dict[str, Any]:
    return {
        "object_key": object_key,
        "sha256": sealed.sha256,
        "file_size": len(sealed.content),
        "seal": exact_facts(sealed),
        "timestamp_due_at": first_due(sealed, wanted),
    }
