"""The pages of a draft with the stamps and fields on them, as templates draw them."""

import json
from typing import Any

from paraph.dashboard.drafts.pictures import content_of
from paraph.documents.models import Document
from paraph.drafts.models import Draft, Placed
from paraph.drafts.tags import Offer, offers_in, signature_lines_of, sizes_for, tags_of

_MOST_PAGES = 200  # of each document
_COLOURS = 8  # that the stylesheet has


def sheets(draft: Draft, *, real: bool = False, with_targets: bool = False) -> list[dict[str, Any]]:
    """Return each document with its first pages and those with stamps; ``real``: only pages with stamps and fields,
    and whose values are known there. Boxes are in points from the top left, as in the pictures
    of the pages. ``with_targets``: each page with what stamps snap to, as JSON: ``[["tag" or "line", its text, x, y,
    width, height, width and height of a stamp that has room there, what a tag names], …]``, from the bottom left."""
    places = draft.places()
    offers = offers_in(draft) if with_targets else None
    return [
        _file(document, [at for at in places if at.document == document], draft.locale, offers, real=real)
        for document in draft.files()
    ]


def palette(draft: Draft) -> list[dict[str, Any]]:
    """Return those who sign, with their names and colours."""
    return [
        {"ref": signer.ref, "name": signer.name(draft.locale), "colour": signer.position % _COLOURS}
        for signer in draft.signing
    ]


def _file(
    document: Document, places: list[Placed], locale: str, offers: dict[str, Offer] | None, *, real: bool
) -> dict[str, Any]:
    boxes: dict[int, list[dict[str, Any]]] = {}
    for at in places:
        if at.page_number <= len(document.pages):
            box = _box(at)
            if at.field:
                box["known"] = real and content_of(at, locale) is not None
            boxes.setdefault(at.page_number, []).append(box)
    numbers = set(boxes) if real else {*boxes, *range(1, min(len(document.pages), _MOST_PAGES) + 1)}
    targets = {} if offers is None else _targets(document, offers)
    pages = [
        {
            "number": number,
            "width": document.pages[number - 1][0],
            "height": document.pages[number - 1][1],
            "boxes": boxes.get(number, []),
            "values_of": sorted({box["signer"] for box in boxes.get(number, []) if box.get("known")}),
            "targets": json.dumps(targets[number]) if number in targets else "",
        }
        for number in sorted(numbers)
    ]
    return {"document": document, "pages": pages, "page_count": len(document.pages)}


def _targets(document: Document, offers: dict[str, Offer]) -> dict[int, list[list[Any]]]:
    targets: dict[int, list[list[Any]]] = {}
    tags, lines = tags_of(document), signature_lines_of(document)
    named = [("tag", tag, at) for tag, at in tags.items()] + [("line", line.label, line) for line in lines]
    for (kind, name, at), size in zip(named, sizes_for(document, [at for _, _, at in named]), strict=True):
        targets.setdefault(at.page_number, []).append([kind, name, at.x, at.y, at.width, at.height, *size])
        if offer := offers.get(name):
            field_type = offer.kind.type if offer.kind else ""
            targets[at.page_number][-1].append({"signer": offer.signer.ref, "type": field_type, "name": offer.name})
    return targets


def _box(at: Placed) -> dict[str, Any]:
    """Return the box of a stamp, or of a field, which says what it asks for, as large as its text will be."""
    signer, top = at.signer, at.document.pages[at.page_number - 1][1] - at.y - at.height
    box = {"x": at.x, "y": top, "width": at.width, "height": at.height}
    box |= {"text_x": at.x + at.width / 2, "colour": signer.position % _COLOURS, "signer": signer.ref}
    if at.field is None:
        picture = {"columns": round(at.width), "rows": round(at.height)}
        name = signer.first_name or str(signer.position + 1)
        return {**box, **picture, "text_y": top + at.height / 2 + 5, "text_size": 15, "name": name}
    size = min(float(at.field.get("font_size", 10)), at.height * 0.75)
    middle = top + min(at.height / 2, size) + size * 0.35
    name = at.field.get("label") or at.field["name"]
    return {**box, "text_y": middle, "text_size": size, "name": name, "field": at.field["type"]}
