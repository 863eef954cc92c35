"""The documents of a request as the signing page shows them: pages, stamps, remarks, and places that readers may draw
otherwise."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import count
from typing import Any

from paraph.documents.models import Document
from paraph.kernel.errors import DomainError
from paraph.pdf.drawing.marks import initials_row
from paraph.signature_requests.models import Placement, Signer
from paraph.signature_requests.signing import documents_of
from paraph.signer import language

SvgBox = dict[str, str]

_BADGE = 7.0  # points: half of the sign at a corner of each place, which stands for the note under the page


def disputed_places(document: Document) -> dict[int, list[SvgBox]]:
    """Return by page number boxes in points from the top left, with the place of the sign at a corner of each: the one
    that is nearer to an edge of the page, where least is covered."""
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


_CHANGING = (  # what is for the screen or print alone is seen in the pictures of the pages as printed
    "scripts",
    "actions",
    "layers",
    "media",
    "xfa_form",
    "hover_annotations",
    "print_only_contents",
)


def remarks_for_page(document: Document, words: dict[str, str]) -> dict[str, Any]:
    """``prints_differently``: page numbers, ``print_unknown``: how many pages, ``drawn_differently``: numbers of the
    pages with such places, ``can_change``: what, in the page's language, ``altered_after_seal``: whether it was. Empty
    where there is nothing to tell."""
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
    """Raise ``DomainError("not_found", …)`` for a document that the signer does not sign."""
    for document in documents_of(signer):
        if document.pk == document_id:
            return document
    raise DomainError("not_found", "There is no such document.")


def contents(signer: Signer, locale: str) -> list[dict[str, Any]]:
    """Return what the template shows of each document. Places to sign are numbered through all of them, in reading
    order; boxes are in points from the top left, as in the pictures of the pages.

    All numbers of a page are texts: a template looks up how the language writes numbers for each that it is given.
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
    """Return by a document's id the place of the signer among those who sign it, as they are sealed, and how many these
    are; nothing where no initials are asked for."""
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
