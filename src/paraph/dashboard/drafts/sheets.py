"""The pages of a draft with the stamps on them, as templates draw them."""

import json
from collections.abc import Iterable
from typing import Any

from paraph.drafts.models import Draft, DraftDocument, DraftSigner, DraftStamp
from paraph.drafts.signer_name import signer_name
from paraph.drafts.stamp_remarks import under_stamps
from paraph.drafts.stamp_sizes import sizes_for
from paraph.drafts.tags import signature_lines_of, tags_of

_MOST_PAGES = 200  # of each document
_COLOURS = 8  # that the stylesheet has


def sheets(draft: Draft, signer: DraftSigner | None = None, *, with_targets: bool = False) -> list[dict[str, Any]]:
    """Return each document with its first pages and those with stamps; with a ``signer``, only pages with stamps of
    theirs. Boxes are in points from the top left, as in the pictures of the pages. ``with_targets``: each page with
    what stamps snap to, as JSON: ``[["tag" or "line", its text, x, y, width, height, width and height of a stamp that
    has room there], …]``, from the bottom left."""
    rows = draft.documents.select_related("document").prefetch_related("stamps__signer")
    files = [_file(row, list(row.stamps.all()), signer, with_targets=with_targets) for row in rows]
    return [file for file in files if file["pages"] or signer is None]


def palette(draft: Draft) -> list[dict[str, Any]]:
    """Return the signers with their names and colours."""
    return [
        {
            "pk": signer.pk,
            "name": signer_name(signer, draft.locale),
            "colour": signer.position % _COLOURS,
        }
        for signer in draft.signers.all()
    ]


def _file(
    row: DraftDocument, stamps: Iterable[DraftStamp], signer: DraftSigner | None, *, with_targets: bool
) -> dict[str, Any]:
    boxes: dict[int, list[dict[str, Any]]] = {}
    stamps = list(stamps)
    found = under_stamps(row.document, stamps) if signer else {}
    for stamp in stamps:
        if (signer is None or stamp.signer_id == signer.pk) and stamp.page_number <= len(row.document.pages):
            boxes.setdefault(stamp.page_number, []).append(
                _box(row, stamp) | {"ground": stamp.pk in found and found[stamp.pk].dark}
            )
    numbers = set(boxes) if signer else {*boxes, *range(1, min(len(row.document.pages), _MOST_PAGES) + 1)}
    targets = _targets(row) if with_targets else {}
    pages = [
        {
            "number": number,
            "width": row.document.pages[number - 1][0],
            "height": row.document.pages[number - 1][1],
            "boxes": boxes.get(number, []),
            "targets": json.dumps(targets[number]) if number in targets else "",
        }
        for number in sorted(numbers)
    ]
    return {"row": row, "document": row.document, "pages": pages, "page_count": len(row.document.pages)}


def _targets(row: DraftDocument) -> dict[int, list[list[str | float]]]:
    targets: dict[int, list[list[str | float]]] = {}
    tags, lines = tags_of(row.document), signature_lines_of(row.document)
    named = [("tag", tag, at) for tag, at in tags.items()] + [("line", line.label, line) for line in lines]
    for (kind, name, at), size in zip(named, sizes_for(row.document, [at for _, _, at in named]), strict=True):
        targets.setdefault(at.page_number, []).append([kind, name, at.x, at.y, at.width, at.height, *size])
    return targets


def _box(row: DraftDocument, stamp: DraftStamp) -> dict[str, Any]:
    top = row.document.pages[stamp.page_number - 1][1] - stamp.y - stamp.height
    place = {"x": stamp.x, "y": top, "width": stamp.width, "height": stamp.height}
    label = {"text_y": top + stamp.height / 2 + 5, "text_x": stamp.x + stamp.width / 2}
    picture = {"signer": stamp.signer_id, "columns": round(stamp.width), "rows": round(stamp.height)}
    name = stamp.signer.first_name or str(stamp.signer.position + 1)
    return {**place, **label, **picture, "name": name, "colour": stamp.signer.position % _COLOURS}
