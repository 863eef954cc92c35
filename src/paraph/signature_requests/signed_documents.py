"""The documents that a signer signs: those on which they have a stamp."""

from paraph.rows.prepared import prepared_cursor
from paraph.signature_requests.models import Signer

_DIGESTS = """
    SELECT sha256 FROM documents_document WHERE id IN (
        SELECT listed.document_id FROM signature_requests_requestdocument listed
        JOIN signature_requests_placement placement ON placement.request_document_id = listed.id
        WHERE placement.signer_id = %s
    )
"""


def signed_digests(signer: Signer) -> list[bytes]:
    """The SHA-256 of each, in no order."""
    with prepared_cursor() as cursor:
        cursor.execute(_DIGESTS, [signer.pk])
        return [bytes(digest) for (digest,) in cursor.fetchall()]
