"""``GET …/pages/{number}/text`` and ``GET …/documents/{id}/text``: the words of pages, for screen readers, selection
and search."""

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.gzip import gzip_page

from paraph.documents.models import Document
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import Signer
from paraph.signer import kept_text
from paraph.signer.authentication import KEPT_SECONDS, got, require_reader, signer_with_turn
from paraph.signer.described import LANG, described, query
from paraph.signer.documents import document_of
from paraph.signer.kept_text import PageText
from paraph.signer.notice import notice
from paraph.signer.shell import show

_MOST_PAGES = 100  # in one answer as text


@gzip_page
@got(kept=KEPT_SECONDS)
@described("GET /documents/{document_id}/pages/{number}/text", "readPageText", "The words.", PageText)
def page_text(_request: HttpRequest, signer: Signer, document_id: int, number: int) -> PageText:
    """Read the words of a page.

    Lines of text with their places, in points from the top left. Browsers may keep it for 15 minutes.
    """
    require_reader(signer)
    return _text(document_of(signer, document_id), number)


@gzip_page
@described(
    "GET /documents/{document_id}/text",
    "readText",
    "A page.",
    "text/html",
    query=(query("from", "The first page of a part of a long document.", default="1"), LANG),
)
def document_text(request: HttpRequest, token: str, document_id: int) -> HttpResponse:
    """Read a document as text.

    Page after page, a hundred at once, for those who read it so.
    """
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    signer = signer_with_turn(token)
    try:
        if signer is None:
            raise DomainError("not_found", "This signing link is not valid.")
        require_reader(signer)
        document = document_of(signer, document_id)
        first = _first(request, document)
        numbers = range(first, min(first + _MOST_PAGES, len(document.pages) + 1))
        pages = [{"number": number, "lines": _text(document, number).lines} for number in numbers]
    except DomainError:
        return notice(request, "not_found", status=404)
    content = {
        "state": "text",
        "token": token,
        "document": document,
        "pages": pages,
        "next": numbers.stop if numbers.stop <= len(document.pages) else 0,
        "page_count": len(document.pages),
    }
    return show(request, "signer/text.html", content, signer=signer)


def _first(request: HttpRequest, document: Document) -> int:
    text = request.GET.get("from", "1")
    return min(max(int(text), 1), len(document.pages)) if text.isdecimal() and len(text) < 6 else 1


def _text(document: Document, number: int) -> PageText:
    if not 1 <= number <= len(document.pages):
        raise DomainError("not_found", "There is no such page.")
    return kept_text.page_text(document, number)
