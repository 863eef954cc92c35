"""The pages of a draft with the stamps and fields on them, as templates draw them."""

import json
from typing import Any

from paraph.dashboard.drafts.pictures import content_of
from paraph.documents.models import Document
from paraph.drafts.models import Draft, Placed
from paraph.drafts.signature_lines import wanted
from paraph.drafts.tags import Offer, Target, offers_in, signature_lines_of, sizes_for, tags_of
from paraph.pdf.typesetting.glyph_fallback import initials_of
from paraph.pdf.untrusted.page_reading import FoundTag

_MOST_PAGES = 200  # of each document
_COLOURS = 8  # that the stylesheet has


def sheets(draft: Draft, *, real: bool = False, with_targets: bool = False) -> list[dict[str, Any]]:
    """Return each document with its first pages and those with stamps; ``real``: only pages with stamps and fields,
    and whose values are known there. Boxes are in points from the top left, as in the pictures
    of the pages. ``with_targets``: each page with what stamps snap to, as JSON: ``[["tag", "line" for a signature, or
    "rule" of which nothing says what it is for, its text, x, y, width, height, width and height of a stamp that has
    room there, what it asks of whom], …]``, from the bottom left."""
    places = draft.places()
    return [
        _file(document, [at for at in places if at.document == document], draft, real=real, with_targets=with_targets)
        for document in draft.files()
    ]


def palette(draft: Draft) -> list[dict[str, Any]]:
    """Return those who sign, with their names, initials and colours."""
    return [
        {"ref": each.ref, "name": name, "initials": initials_of(name), "colour": each.position % _COLOURS}
        for each in draft.signing
        for name in [each.name(draft.locale)]
    ]


def _file(document: Document, places: list[Placed], draft: Draft, *, real: bool, with_targets: bool) -> dict[str, Any]:
    boxes: dict[int, list[dict[str, Any]]] = {}
    for at in places:
        if at.page_number <= len(document.pages):
            box = _box(at)
            if at.field:
                box["known"] = real and content_of(at, draft.locale) is not None
            boxes.setdefault(at.page_number, []).append(box)
    numbers = set(boxes) if real else {*boxes, *range(1, min(len(document.pages), _MOST_PAGES) + 1)}
    targets = _targets(document, draft) if with_targets else {}
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


def _targets(document: Document, draft: Draft) -> dict[int, list[list[Any]]]:
    offers, lines = offers_in(draft), signature_lines_of(document)
    asked = {line: {"signer": signer.ref, "type": "", "name": ""} for line, signer, _ in wanted(lines, draft.signing)}
    named: list[tuple[str, str, Target]] = [("tag", tag, at) for tag, at in tags_of(document).items()]
    named += [("line" if line in asked or line.is_for_signature else "rule", line.label, line) for line in lines]
    targets: dict[int, list[list[Any]]] = {}
    for (kind, name, at), size in zip(named, sizes_for(document, [at for _, _, at in named]), strict=True):
        offer = _named(offers.get(name)) if isinstance(at, FoundTag) else asked.get(at)
        place = [kind, name, *(round(each, 2) for each in (at.x, at.y, at.width, at.height)), *size]
        targets.setdefault(at.page_number, []).append([*place, offer] if offer else place)
    return targets


def _named(offer: Offer | None) -> dict[str, str] | None:
    return offer and {"signer": offer.signer.ref, "type": offer.kind.type if offer.kind else "", "name": offer.name}


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
