"""``GET …/pages/{number}/text`` and ``GET …/documents/{id}/text``: the words of pages, for screen readers, selection
and search."""

from dataclasses import asdict

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.gzip import gzip_page

from paraph.documents.models import Document
from paraph.kernel.errors import DomainError
from paraph.signer import answers, kept_text, language
from paraph.signer.authentication import found, require_reader, signer_with_turn
from paraph.signer.documents import document_of
from paraph.signer.notice import notice
from paraph.signer.shell import show

_KEPT_SECONDS = 900
_MOST_PAGES = 100  # in one answer as text


@gzip_page
def page_text(request: HttpRequest, token: str, document_id: int, number: int) -> HttpResponse:
    """``{"width", "height", "lines": [{"text", "x", "y", "width", "height"}]}``: points from the top left."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    signer = None
    try:
        signer = found(token)
        require_reader(signer)
        text = _text(document_of(signer, document_id), number)
    except DomainError as error:
        return answers.refusal(error, language.of_answer(request), signer)
    response = answers.answer(asdict(text))
    response["Cache-Control"] = f"private, max-age={_KEPT_SECONDS}"
    return response


@gzip_page
def document_text(request: HttpRequest, token: str, document_id: int) -> HttpResponse:
    """Return the whole document as text, page after page, for those who read it so. ``?from=`` is the first page of a
    part of a long one."""
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


def _text(document: Document, number: int) -> kept_text.PageText:
    if not 1 <= number <= len(document.pages):
        raise DomainError("not_found", "There is no such page.")
    return kept_text.page_text(document, number)
