"""The documents that a signer signs, or an approver approves."""

from paraph.database.compiled_query import CompiledQuery
from paraph.documents.models import Document
from paraph.signature_requests.models import RequestDocument, Signer

_OF_SIGNER, _OF_APPROVER = (
    CompiledQuery(
        lambda: RequestDocument.objects.select_related("document").distinct().order_by("position"),
        field=f"{listing}__signer",
    )
    for listing in ("placements", "approvals")
)


def documents_of(signer: Signer) -> list[Document]:
    """In the request's order. Others of the request are not theirs to read."""
    return [row.document for row in (_OF_APPROVER if signer.is_approver else _OF_SIGNER).all(signer.pk)]
