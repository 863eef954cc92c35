"""The documents that a signer signs."""

from paraph.documents.models import Document
from paraph.signature_requests.models import Signer


def documents_of(signer: Signer) -> list[Document]:
    """In the request's order. Others of the request are not theirs to read."""
    of_request = signer.request.request_documents.filter(placements__signer=signer).distinct()
    return [row.document for row in of_request.select_related("document").order_by("position")]
