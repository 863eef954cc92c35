"""The pages of a request beside its signers: as they were sealed; before that with the places of signers and what
stands there already."""

from collections import defaultdict
from typing import Any

from paraph.signature_requests.fields.store import SignedField
from paraph.signature_requests.models import Field, Placement, RequestDocument, SignatureRequest, Signer, SignerStatus

_MOST_PAGES = 200  # of each document; the others are in its file
_COLOURS = 8  # that the stylesheet has


def sheets(
    found: SignatureRequest,
    signers: list[Signer],
    documents: list[RequestDocument],
    fields: list[SignedField],
    texts: dict[int, str],
) -> list[dict[str, Any]]:
    """Return each document that is still there, with its pages. ``texts``: what was signed, by the id of its field."""
    boxes: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    people = {signer.pk: signer for signer in signers}
    sealed = found.finalized and not found.files_deleted_at
    rows = {row.pk: row for row in documents if not row.document.file_deleted_at}
    placed: list[Placement | Field] = []
    if not sealed:
        placed = [*Placement.objects.filter(request_document__in=rows.values()), *(each.field for each in fields)]
    for at in placed:
        if row := rows.get(at.request_document_id):
            boxes[row.pk, at.page_number].append(_box(at, row, people[at.signer_id], texts))
    return [
        {
            "document": row.document,
            "more": max(len(row.document.pages) - _MOST_PAGES, 0),
            "pages": [
                {"number": number, "width": width, "height": height, "boxes": boxes[row.pk, number]}
                for number, (width, height) in enumerate(row.document.pages[:_MOST_PAGES], start=1)
            ],
        }
        for row in rows.values()
    ]


def _box(at: Placement | Field, row: RequestDocument, signer: Signer, texts: dict[int, str]) -> dict[str, Any]:
    """Return a place in points from the top left. ``stamp``: the placement whose signature stands there."""
    is_signed = signer.status == SignerStatus.SIGNED
    top = row.document.pages[at.page_number - 1][1] - at.y - at.height
    box = {"x": at.x, "y": top, "width": at.width, "height": at.height, "signer": signer, "is_signed": is_signed}
    box["colour"] = (signer.order - 1) % _COLOURS
    if isinstance(at, Placement):
        size = min(15.0, at.height * 0.5)
        text = {"text": signer.full_name, "stamp": at.pk if is_signed else None}
    else:
        size = min(at.font_size, at.height * 0.75)
        text = {"text": texts.get(at.pk, "") if is_signed else at.label}
    return box | text | {"size": size, "text_y": top + at.height / 2 + size * 0.35}
