"""The documents of a request as the signing page shows them: pages, stamps, remarks, and places that readers may draw
otherwise. And the words of pages, for screen readers, selection and search (``GET …/pages/{number}/text`` and ``GET
…/documents/{id}/text``), which a sandboxed process reads once."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import count, groupby
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe
from pydantic import Field

from paraph.documents.models import Document
from paraph.kernel.errors import DomainError
from paraph.pdf.drawing.marks import initials_row
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.page_reading import TextLayer, Word, text_layer
from paraph.signature_requests.models import Placement, Signer
from paraph.signature_requests.signing import documents_of
from paraph.signer import language
from paraph.signer.described import LANG, Answer, described, query
from paraph.signer.endpoints import KEPT_SECONDS, got, require_reader, signer_with_turn
from paraph.signer.notice import notice
from paraph.signer.shell import show
from paraph.storage import store
from paraph.tenants.scope import tenant_key

SvgBox = dict[str, str]

_BADGE = 7.0  # points: half the sign at a corner of each place, which points to the note under the page


def disputed_places(document: Document) -> dict[int, list[SvgBox]]:
    """Return boxes by page number, in points from the top left. Each has a sign at one corner, the one nearer to an
    edge of the page, where it covers least."""
    found: dict[int, list[SvgBox]] = defaultdict(list)
    for place in document.remarks().get("drawn_differently", []):
        number = place["page_number"]
        width, height = document.pages[number - 1]
        left, right = place["x"], place["x"] + place["width"]
        top = height - place["y"] - place["height"]
        corner = left if left < width - right else right
        badge = {"badge_x": length(_within(corner, width)), "badge_y": length(_within(top, height))}
        found[number].append(svg_box(left, top, place["width"], place["height"]) | badge)
    return found


def _within(position: float, size: float) -> float:
    return min(max(position, _BADGE), max(size - _BADGE, _BADGE))


def svg_box(x: float, y: float, width: float, height: float) -> SvgBox:
    lengths = {"x": x, "y": y, "width": width, "height": height, "middle_x": x + width / 2, "middle_y": y + height / 2}
    return {name: length(value) for name, value in lengths.items()}


def length(points: float) -> str:
    """Return a length for SVG, with a point whatever the language."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


# What is for the screen or print alone is seen in the pictures of the pages as printed.
_CHANGING = ("scripts", "actions", "layers", "media", "xfa_form", "hover_annotations", "print_only_contents")


def remarks_for_page(document: Document, words: dict[str, str]) -> dict[str, Any]:
    """Return remarks on a document. ``prints_differently``: page numbers, ``print_unknown``: number of pages,
    ``drawn_differently``: numbers of pages with disputed places, ``can_change``: what can, in the page's language,
    ``altered_after_seal``: whether it was. Empty where there is nothing to tell."""
    noted = document.remarks()
    parts = [words[word] for word in _CHANGING if word in noted.get("can_change", [])]
    found = {
        "prints_differently": noted.get("prints_differently", []),
        "print_unknown": noted.get("print_unknown", 0),
        "drawn_differently": sorted({place["page_number"] for place in noted.get("drawn_differently", [])}),
        "can_change": ", ".join(parts),
        "altered_after_seal": bool(noted.get("altered_after_seal")),
    }
    return found if any(found.values()) else {}


def document_of(signer: Signer, document_id: int) -> Document:
    """Return a document that the signer signs. Raise ``DomainError("not_found", …)`` for any other."""
    for document in documents_of(signer):
        if document.pk == document_id:
            return document
    raise DomainError("not_found", "There is no such document.")


def contents(signer: Signer, locale: str) -> list[dict[str, Any]]:
    """Return what the template shows of each document. Places to sign are numbered across all documents, in reading
    order; boxes are in points from the top left, as in the pictures of the pages.

    All numbers of a page are texts: for each real number, a template looks up how the language writes it.
    """
    numbers = count(1)
    places = _places(signer)
    initials = _initials(signer)
    return [
        _document(document, places.get(document.pk, []), initials.get(document.pk), locale, numbers)
        for document in documents_of(signer)
    ]


def in_reading_order(places: Iterable[Placement]) -> list[Placement]:
    """Return the places on one document as they are numbered."""
    return sorted(places, key=lambda place: (place.page_number, -place.y - place.height, place.x))


def _document(
    document: Document, places: list[Placement], initials: tuple[int, int] | None, locale: str, numbers: Iterator[int]
) -> dict[str, Any]:
    boxes: dict[int, list[SvgBox]] = defaultdict(list)
    for place in places:
        top = document.pages[place.page_number - 1][1] - place.y - place.height
        boxes[place.page_number].append(
            svg_box(place.x, top, place.width, place.height) | {"number": str(next(numbers))}
        )
    remarks = remarks_for_page(document, language.words(locale))
    in_print = set(remarks.get("prints_differently", []))
    disputed = disputed_places(document)
    pages = [
        {
            "number": str(number),
            "width": f"{width:.0f}",
            "height": f"{height:.0f}",
            "view_box": f"0 0 {length(width)} {length(height)}",
            "boxes": boxes.get(number, []),
            "initials": _initials_box(*initials, width, height) if initials else None,
            "prints_differently": number in in_print,
            "disputed": disputed.get(number, []),
        }
        for number, (width, height) in enumerate(document.pages, start=1)
    ]
    return {
        "id": str(document.pk),
        "name": document.name,
        "pages": pages,
        "page_count": str(len(pages)),
        "remarks": remarks,
    }


def _places(signer: Signer) -> dict[int, list[Placement]]:
    """Return the signer's stamps on each document, in reading order."""
    found: dict[int, list[Placement]] = defaultdict(list)
    for place in signer.placements.select_related("request_document"):
        found[place.request_document.document_id].append(place)
    return {document: in_reading_order(places) for document, places in found.items()}


def _initials(signer: Signer) -> dict[int, tuple[int, int]]:
    """Return by document id the position of the signer among those who sign it, in the order of the sealed initials,
    and their number; nothing where no initials are required."""
    if not signer.request.initials_required or signer.is_approver:
        return {}
    places = Placement.objects.filter(request_document__request=signer.request_id).order_by("signer__order")
    by_document: dict[int, list[int]] = defaultdict(list)
    for document, signer_id in places.values_list("request_document__document", "signer").distinct():
        by_document[document].append(signer_id)
    return {document: (ids.index(signer.pk), len(ids)) for document, ids in by_document.items() if signer.pk in ids}


@lru_cache(maxsize=256)  # most pages are of one size
def _initials_box(index: int, count: int, width: float, height: float) -> SvgBox:
    place = initials_row(width, height, count)[index]
    return svg_box(place.x, height - place.y - place.height, place.width, place.height)


_MOST_PAGES = 100  # in one answer as text
_FORM = 3  # version of the kept text: a new one where lines are made differently, so that old texts are not found


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
    """Return the text of a page, without lines where it cannot be read. Raise ``DomainError("not_found", …)`` for a
    page that the document does not have."""
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
    except PdfRefused:  # perhaps for lack of time: not kept, so it is tried again
        width, height = document.pages[number - 1]
        return PageText.model_construct(width=width, height=height, lines=[])
    lines = [_line(layer, list(words)) for _, words in groupby(layer.words, key=lambda word: word.line)]
    text = PageText.model_construct(width=layer.width, height=layer.height, lines=lines)
    with suppress(OSError):  # where there is no room to keep it, it is read again
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
