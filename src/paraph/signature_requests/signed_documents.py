"""Reading the documents that a signer signs: those with a stamp of theirs. An approver's are those that list them."""

from collections import defaultdict

from paraph.database.prepared_statements import prepared_cursor
from paraph.signature_requests.listing import by_listing, of_role
from paraph.signature_requests.models import Signer

_DIGESTS = by_listing("""
    SELECT sha256 FROM documents_document WHERE id IN (
        SELECT listed.document_id FROM signature_requests_requestdocument listed
        JOIN {listing} placement ON placement.request_document_id = listed.id
        WHERE placement.signer_id = %s
    )
""")
_NAMES = """
    SELECT signer.id, document.name FROM signature_requests_signer signer
    JOIN signature_requests_requestdocument listed ON listed.request_id = signer.request_id
    JOIN documents_document document ON document.id = listed.document_id
    WHERE signer.request_id = %s AND EXISTS (
        SELECT FROM signature_requests_placement placement
        WHERE placement.signer_id = signer.id AND placement.request_document_id = listed.id
        UNION ALL
        SELECT FROM signature_requests_approval approval
        WHERE approval.signer_id = signer.id AND approval.request_document_id = listed.id
    )
    ORDER BY listed.position
"""


def signed_digests(signer: Signer) -> list[bytes]:
    """Return the SHA-256 of each document that the signer signs, in any order."""
    with prepared_cursor() as cursor:
        cursor.execute(of_role(_DIGESTS, signer), [signer.pk])
        return [bytes(digest) for (digest,) in cursor.fetchall()]


def signed_names(request_id: int) -> dict[int, list[str]]:
    """Return for each signer of the request (by id) the names of their documents, in the order of the request."""
    names: dict[int, list[str]] = defaultdict(list)
    with prepared_cursor() as cursor:
        cursor.execute(_NAMES, [request_id])
        for signer_id, name in cursor.fetchall():
            names[signer_id].append(name)
    return names
