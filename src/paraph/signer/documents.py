"""The documents of a signing page: their pages, the places to sign, and what is to be said of them."""

from collections.abc import Iterator
from itertools import count
from typing import Any

from paraph.documents.models import Document
from paraph.kernel.errors import DomainError
from paraph.pdf.drawing.initials_row import initials_row
from paraph.signature_requests.models import Placement, Signer
from paraph.signature_requests.signer_documents import documents_of
from paraph.signer import language
from paraph.signer.remarks import remarks_for_page

Box = dict[str, Any]


def document_of(signer: Signer, document_id: int) -> Document:
    """Raises ``DomainError("not_found", …)`` for a document that the signer does not sign."""
    for document in documents_of(signer):
        if document.pk == document_id:
            return document
    raise DomainError("not_found", "There is no such document.")


def contents(signer: Signer, locale: str) -> list[dict[str, Any]]:
    """What the template shows of each document. Places to sign are numbered through all of them, in reading order;
    boxes are in points from the top left, as in the pictures of the pages."""
    numbers = count(1)
    return [_document(document, signer, locale, numbers) for document in documents_of(signer)]


def _document(document: Document, signer: Signer, locale: str, numbers: Iterator[int]) -> dict[str, Any]:
    boxes = _boxes(document, signer)
    for page in sorted(boxes):
        for box in sorted(boxes[page], key=lambda box: (box["y"], box["x"])):
            box["number"] = next(numbers)
    remarks = remarks_for_page(document, language.words(locale))
    in_print = set(remarks.get("prints_differently", []))
    pages = [
        {
            "number": number,
            "width": width,
            "height": height,
            "boxes": boxes.get(number, []),
            "initials": _initials(signer, width, height),
            "prints_differently": number in in_print,
        }
        for number, (width, height) in enumerate(document.pages, start=1)
    ]
    return {"id": document.pk, "name": document.name, "pages": pages, "remarks": remarks}


def _boxes(document: Document, signer: Signer) -> dict[int, list[Box]]:
    """The signer's stamps, by page."""
    placements = Placement.objects.filter(
        signer=signer, request_document__request=signer.request_id, request_document__document=document
    )
    boxes: dict[int, list[Box]] = {}
    for place in placements:
        top = document.pages[place.page_number - 1][1] - place.y - place.height
        box = {"x": place.x, "y": top, "width": place.width, "height": place.height}
        boxes.setdefault(place.page_number, []).append(box)
    return boxes


def _initials(signer: Signer, width: float, height: float) -> Box | None:
    if not signer.request.initials_required:
        return None
    signers = list(signer.request.signers.order_by("order").values_list("pk", flat=True))
    place = initials_row(width, height, len(signers))[signers.index(signer.pk)]
    return {"x": place.x, "y": height - place.y - place.height, "width": place.width, "height": place.height}
