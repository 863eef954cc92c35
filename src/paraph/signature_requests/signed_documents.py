"""Reading the documents that a signer signs: those with a stamp of theirs. An approver's are those that list them."""

from collections import defaultdict
from typing import Any

from django.db.models import QuerySet

from paraph.database.planned import planned
from paraph.documents.models import Document
from paraph.signature_requests.models import Approval, Placement, RequestDocument, Signer

_DIGESTS = """
SELECT document.sha256 FROM signature_requests_requestdocument AS row
JOIN documents_document AS document ON document.id = row.document_id
WHERE row.id IN (
    SELECT request_document_id FROM signature_requests_placement WHERE signer_id = %s
    UNION SELECT request_document_id FROM signature_requests_approval WHERE signer_id = %s
)
"""


def listed(signer: Signer) -> QuerySet[RequestDocument]:
    """Return which of the request's documents the signer signs or approves, in their order. Others are not theirs to
    read."""
    places: Any = signer.approvals if signer.is_approver else signer.placements
    return RequestDocument.objects.filter(pk__in=places.values("request_document"))


def documents_of(signer: Signer) -> list[Document]:
    """Return the documents of :func:`listed`."""
    return [row.document for row in listed(signer).select_related("document")]


def signed_digests(signer: Signer) -> list[bytes]:
    """Return the SHA-256 of each document that the signer signs, in any order."""
    return [bytes(digest) for (digest,) in planned(_DIGESTS, [signer.pk, signer.pk])]


def signed_names(request_id: int) -> dict[int, list[str]]:
    """Return for each signer of the request (by id) the names of their documents, in the order of the request."""
    columns = ("signer_id", "request_document__position", "request_document__document__name")
    places = Placement.objects.filter(signer__request=request_id).values_list(*columns)
    approvals = Approval.objects.filter(signer__request=request_id).values_list(*columns)
    names: dict[int, list[str]] = defaultdict(list)
    for signer_id, _, name in sorted(places.union(approvals)):
        names[signer_id].append(name)
    return names
