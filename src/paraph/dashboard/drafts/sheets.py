"""The pages of a draft with the stamps and fields on them, as templates draw them."""

import json
from typing import Any

from paraph.dashboard.drafts.values_picture import content_of
from paraph.drafts.models import Draft, DraftDocument, DraftField, DraftSigner, DraftStamp, Places
from paraph.drafts.signer_name import signer_name
from paraph.drafts.stamp_sizes import sizes_for
from paraph.drafts.tag_offers import Offer
from paraph.drafts.tags import offers_in, signature_lines_of, tags_of
from paraph.signature_requests.models import Role

_MOST_PAGES = 200  # of each document
_COLOURS = 8  # that the stylesheet has


def sheets(draft: Draft, signer: DraftSigner | None = None, *, with_targets: bool = False) -> list[dict[str, Any]]:
    """Return each document with its first pages and those with stamps; with a ``signer``, only pages with stamps of
    theirs, and what is known of the values of their fields. Boxes are in points from the top left, as in the pictures
    of the pages. ``with_targets``: each page with what stamps snap to, as JSON: ``[["tag" or "line", its text, x, y,
    width, height, width and height of a stamp that has room there, what a tag names], …]``, from the bottom left."""
    rows, places = draft.documents.select_related("document"), draft.places()
    offers = offers_in(draft) if with_targets else None
    files = [_file(row, places, draft.locale, signer, offers) for row in rows]
    return [file for file in files if file["pages"] or signer is None]


def palette(draft: Draft) -> list[dict[str, Any]]:
    """Return those who sign, with their names and colours."""
    return [
        {
            "pk": signer.pk,
            "name": signer_name(signer, draft.locale),
            "colour": signer.position % _COLOURS,
        }
        for signer in draft.signers.filter(role=Role.SIGNER)
    ]


def _file(
    row: DraftDocument, places: Places, locale: str, signer: DraftSigner | None, offers: dict[str, Offer] | None
) -> dict[str, Any]:
    boxes: dict[int, list[dict[str, Any]]] = {}
    for stamp in [stamp for stamp in places.stamps if stamp.document == row]:
        if (signer is None or stamp.signer == signer) and stamp.page_number <= len(row.document.pages):
            boxes.setdefault(stamp.page_number, []).append(_box(row, stamp))
    for field in [field for field in places.fields if field.document == row]:
        if (signer is None or field.signer == signer) and field.page_number <= len(row.document.pages):
            known = signer is not None and content_of(field, locale) is not None
            boxes.setdefault(field.page_number, []).append(_field_box(row, field) | {"known": known})
    numbers = set(boxes) if signer else {*boxes, *range(1, min(len(row.document.pages), _MOST_PAGES) + 1)}
    targets = {} if offers is None else _targets(row, offers)
    pages = [
        {
            "number": number,
            "width": row.document.pages[number - 1][0],
            "height": row.document.pages[number - 1][1],
            "boxes": boxes.get(number, []),
            "values_of": signer.pk if signer and any(box.get("known") for box in boxes[number]) else None,
            "targets": json.dumps(targets[number]) if number in targets else "",
        }
        for number in sorted(numbers)
    ]
    return {"row": row, "document": row.document, "pages": pages, "page_count": len(row.document.pages)}


def _targets(row: DraftDocument, offers: dict[str, Offer]) -> dict[int, list[list[Any]]]:
    targets: dict[int, list[list[Any]]] = {}
    tags, lines = tags_of(row.document), signature_lines_of(row.document)
    named = [("tag", tag, at) for tag, at in tags.items()] + [("line", line.label, line) for line in lines]
    for (kind, name, at), size in zip(named, sizes_for(row.document, [at for _, _, at in named]), strict=True):
        targets.setdefault(at.page_number, []).append([kind, name, at.x, at.y, at.width, at.height, *size])
        if offer := offers.get(name):
            field_type = offer.kind.type if offer.kind else ""
            said = {"signer": str(offer.signer.pk), "type": field_type, "name": offer.name}
            targets[at.page_number][-1].append(said)
    return targets


def _box(row: DraftDocument, stamp: DraftStamp) -> dict[str, Any]:
    place = _place(row, stamp)
    label = {"text_y": place["y"] + stamp.height / 2 + 5, "text_x": stamp.x + stamp.width / 2, "text_size": 15}
    picture = {"signer": stamp.signer.pk, "columns": round(stamp.width), "rows": round(stamp.height)}
    name = stamp.signer.first_name or str(stamp.signer.position + 1)
    return {**place, **label, **picture, "name": name, "colour": stamp.signer.position % _COLOURS}


def _field_box(row: DraftDocument, field: DraftField) -> dict[str, Any]:
    """Return the box of a field, which says what it asks for, as large as its text will be."""
    place, asked = _place(row, field), field.content
    size = min(float(asked.get("font_size", 10)), field.height * 0.75)
    middle = place["y"] + min(field.height / 2, size) + size * 0.35
    label = {"text_y": middle, "text_x": field.x + field.width / 2, "text_size": size}
    name = asked.get("label") or asked["name"]
    return {**place, **label, "name": name, "colour": field.signer.position % _COLOURS, "field": asked["type"]}


def _place(row: DraftDocument, at: DraftStamp) -> dict[str, float]:
    top = row.document.pages[at.page_number - 1][1] - at.y - at.height
    return {"x": at.x, "y": top, "width": at.width, "height": at.height}
