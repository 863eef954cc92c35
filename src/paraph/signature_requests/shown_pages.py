"""Refusing to sign documents with a page that cannot be shown."""

from paraph.documents.models import UnrenderablePage
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import Signer
from paraph.signature_requests.signed_documents import documents_of, listed


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
    pages = UnrenderablePage.objects.filter(document__in=listed(signer).values("document")).order_by("-page_number")
    first = {page.document_id: page.page_number for page in pages}
    for document in documents_of(signer) if first else ():
        if document.pk in first:
            raise PageNotShownError(first[document.pk], document.name, document.pk)
