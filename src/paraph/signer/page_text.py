"""``GET …/pages/{number}/text`` and ``GET …/documents/{id}/text``: the words of pages, for screen readers, selection
and search."""

from itertools import groupby
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.gzip import gzip_page

from paraph.documents.models import Document
from paraph.kernel.errors import DomainError
from paraph.organizations.scope import party
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.text_layer import TextLayer, Word, text_layer
from paraph.signature_requests.signing_token import signer_of
from paraph.signer import answers
from paraph.signer.documents import document_of
from paraph.signer.door import found
from paraph.signer.may_read import require_reader
from paraph.signer.notice import notice
from paraph.signer.shell import show
from paraph.storage import store

_KEPT_SECONDS = 900
_MOST_PAGES = 100  # in one answer as text


@gzip_page
def page_text(request: HttpRequest, token: str, document_id: int, number: int) -> HttpResponse:
    """``{"width", "height", "lines": [{"text", "x", "y", "width", "height"}]}``: points from the top left."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    try:
        signer = found(token)
        require_reader(signer)
        layer = _layer(document_of(signer, document_id), number)
    except DomainError as error:
        return answers.refusal(error)
    response = answers.answer({"width": layer.width, "height": layer.height, "lines": _lines(layer)})
    response["Cache-Control"] = f"private, max-age={_KEPT_SECONDS}"
    return response


@gzip_page
def document_text(request: HttpRequest, token: str, document_id: int) -> HttpResponse:
    """The whole document as text, page after page, for those who read it so. ``?from=`` is the first page of a part
    of a long one."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    signer = signer_of(token)
    try:
        if signer is None:
            raise DomainError("not_found", "This signing link is not valid.")
        require_reader(signer)
        document = document_of(signer, document_id)
        first = _first(request, document)
        numbers = range(first, min(first + _MOST_PAGES, len(document.pages) + 1))
        pages = [{"number": number, "lines": _lines(_layer(document, number))} for number in numbers]
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


def _layer(document: Document, number: int) -> TextLayer:
    if not 1 <= number <= len(document.pages):
        raise DomainError("not_found", "There is no such page.")
    try:
        return text_layer(
            lambda: store.get(document.shown_key), number, party=party(document), sha256=document.shown_sha256
        )
    except PdfRefused:
        width, height = document.pages[number - 1]
        return TextLayer(width, height, [])


def _lines(layer: TextLayer) -> list[dict[str, Any]]:
    return [_line(layer, list(words)) for _, words in groupby(layer.words, key=lambda word: word.line)]


def _line(layer: TextLayer, words: list[Word]) -> dict[str, Any]:
    left, bottom = min(word.x for word in words), min(word.y for word in words)
    right, top = max(word.x + word.width for word in words), max(word.y + word.height for word in words)
    return {
        "text": " ".join(word.text for word in words),
        "x": round(left, 1),
        "y": round(layer.height - top, 1),
        "width": round(right - left, 1),
        "height": round(top - bottom, 1),
    }
