"""``GET …/pages/{number}/text`` and ``GET …/documents/{id}/text``: the words of pages, for screen readers, selection
and search. A sandboxed process reads them once; they are kept in storage beside the pictures."""

import json
from contextlib import suppress
from itertools import groupby

from django.http import HttpRequest, HttpResponse
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe
from pydantic import Field

from paraph.documents.models import Document
from paraph.kernel.errors import DomainError
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.page_reading import TextLayer, Word, text_layer
from paraph.signature_requests.models import Signer
from paraph.signer.described import LANG, Answer, described, query
from paraph.signer.documents import document_of
from paraph.signer.endpoints import KEPT_SECONDS, got, require_reader, signer_with_turn
from paraph.signer.notice import notice
from paraph.signer.shell import show
from paraph.storage import store
from paraph.tenants.scope import tenant_key

_MOST_PAGES = 100  # in one answer as text
_FORM = 3  # of the kept text: another number where lines come about in another way, so that old ones are not found


class Line(Answer):
    text: str = Field(description="The words of the line.")
    x: float = Field(description="From the left edge of the page.")
    y: float = Field(description="From the top edge of the page.")
    width: float = Field(description="Of the line.")
    height: float = Field(description="Of the line.")


class PageText(Answer):
    width: float = Field(description="Of the page.")
    height: float = Field(description="Of the page.")
    lines: list[Line] = Field(description="From top to bottom.")
    example = (
        "A page",
        {
            "width": 595.3,
            "height": 841.9,
            "lines": [{"text": "Lease agreement", "x": 72, "y": 64.2, "width": 138.5, "height": 16.1}],
        },
    )


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
@require_safe
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
    """Return the text of a page, without lines where it cannot be read. Raise ``DomainError("not_found", …)`` for one
    that the document does not have."""
    if not 1 <= number <= len(document.pages):
        raise DomainError("not_found", "There is no such page.")
    key = f"pages/{document.shown_sha256.hex()}/{number}-text-{_FORM}.json"
    try:
        kept = json.loads(store.get(key))  # pydantic would refuse lone surrogates
        return PageText.model_construct(**kept | {"lines": [Line.model_construct(**each) for each in kept["lines"]]})
    except FileNotFoundError:
        pass
    try:
        layer = text_layer(
            lambda: store.get(document.shown_key), number, tenant_key=tenant_key(document), sha256=document.shown_sha256
        )
    except PdfRefused:  # perhaps for want of time: it is tried again
        width, height = document.pages[number - 1]
        return PageText.model_construct(width=width, height=height, lines=[])
    lines = [_line(layer, list(words)) for _, words in groupby(layer.words, key=lambda word: word.line)]
    text = PageText.model_construct(width=layer.width, height=layer.height, lines=lines)
    with suppress(OSError):  # without room to keep it, it is read again
        store.put(key, json.dumps(text.model_dump()).encode())
    return text


def _line(layer: TextLayer, words: list[Word]) -> Line:
    left, bottom = min(word.x for word in words), min(word.y for word in words)
    right, top = max(word.x + word.width for word in words), max(word.y + word.height for word in words)
    return Line.model_construct(
        text=" ".join(word.text for word in words),
        x=round(left, 1),
        y=round(layer.height - top, 1),
        width=round(right - left, 1),
        height=round(top - bottom, 1),
    )
