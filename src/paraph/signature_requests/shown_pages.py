"""Refusing to sign documents with a page that cannot be shown."""

from paraph.database.prepared_statements import prepared_cursor
from paraph.kernel.errors import DomainError
from paraph.signature_requests.listing import by_listing, of_role
from paraph.signature_requests.models import Signer

_UNSHOWN = by_listing("""
    SELECT page.page_number, document.name, document.id FROM documents_unrenderablepage page
    JOIN documents_document document ON document.id = page.document_id
    JOIN signature_requests_requestdocument listed ON listed.document_id = document.id
    WHERE EXISTS (
        SELECT FROM {listing} placement
        WHERE placement.signer_id = %s AND placement.request_document_id = listed.id
    )
    ORDER BY listed.position, page.page_number LIMIT 1
""")


class PageNotShownError(DomainError):
    """A page cannot be shown, so that the signer cannot sign."""

    def __init__(self, page_number: int, document_name: str, document_id: int) -> None:
        message = (
            f"Page {page_number} of “{document_name}” cannot be shown, so it cannot be signed. "
            "Please ask the sender for another file."
        )
        super().__init__("validation_error", message)
        self.page_number = page_number
        self.document_name = document_name
        self.document_id = document_id


def require_shown(signer: Signer) -> None:
    """Raise :class:`PageNotShownError` if the picture of a page failed in a document that the signer signs."""
    with prepared_cursor() as cursor:
        cursor.execute(of_role(_UNSHOWN, signer), [signer.pk])
        row = cursor.fetchone()
    if row:
        raise PageNotShownError(*row)
