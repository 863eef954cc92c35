"""What is drawn on a document when it is sealed: stamps, initials and the sandbox watermark, and where."""

import math
from collections.abc import Sequence

from paraph.organizations.models import Environment
from paraph.pdf.drawing.initials_row import initials_row
from paraph.pdf.drawing.marks import Mark
from paraph.pdf.typesetting.appearances import Appearances, InitialsContent, StampContent, appearances
from paraph.rows.read import Compiled
from paraph.signature_requests.handwriting import initials_of, signature_of
from paraph.signature_requests.models import Placement, RequestDocument, Signer

Size = tuple[float, float]

_PLACEMENTS = Compiled(
    lambda: Placement.objects.select_related("signer").order_by("signer__order", "id"), "request_document"
)
_ASPECTS_PER_DOUBLING = 4  # pages whose shapes differ by less than this step share one watermark


def pictures(row: RequestDocument) -> tuple[bytes, list[Mark]]:
    """A PDF of pictures, and the marks that place them: watermarks first, so that everything else lies above."""
    placements = _PLACEMENTS.all(row.pk)
    signers = list({placement.signer_id: placement.signer for placement in placements}.values())
    sizes: list[Size] = [(width, height) for width, height in row.document.pages]
    shapes = _shapes(sizes) if row.request.environment == Environment.SANDBOX else []
    drawn = appearances(
        [_stamp(placement, row.request_id) for placement in placements],
        [_initials(signer) for signer in signers] if row.request.initials_required else [],
        list(dict.fromkeys(shapes)),
    )
    marks = [*_watermarks(sizes, shapes, drawn), *_initials_marks(sizes, drawn)]
    marks += [
        Mark(place.page_number, place.x, place.y, place.width, place.height, page)
        for place, page in zip(placements, drawn.stamp_pages, strict=True)
    ]
    return drawn.pdf, marks


def _stamp(placement: Placement, request_id: int) -> StampContent:
    signer = placement.signer
    assert signer.signed_at
    return StampContent(
        width=placement.width,
        height=placement.height,
        name=signer.full_name,
        signed_at=signer.signed_at,
        request_id=request_id,
        signature=signature_of(signer),
        locale=signer.locale,
    )


def _initials(signer: Signer) -> InitialsContent:
    return InitialsContent(signer.full_name, initials_of(signer) or {"type": "typed"})


def _shapes(sizes: Sequence[Size]) -> list[Size]:
    """For each page the size its watermark is drawn for: the first page's of about the same shape, so that a file of
    a thousand odd sizes needs few pictures."""
    first: dict[int, Size] = {}
    return [
        first.setdefault(round(math.log2(width / height) * _ASPECTS_PER_DOUBLING), (width, height))
        for width, height in sizes
    ]


def _watermarks(sizes: Sequence[Size], shapes: Sequence[Size], drawn: Appearances) -> list[Mark]:
    page_of = dict(zip(dict.fromkeys(shapes), drawn.watermark_pages, strict=True))
    marks = []
    for number, (page, shape) in enumerate(zip(sizes, shapes, strict=False), start=1):
        scale = min(page[0] / shape[0], page[1] / shape[1])
        width, height = shape[0] * scale, shape[1] * scale
        left, bottom = (page[0] - width) / 2, (page[1] - height) / 2
        marks.append(Mark(number, left, bottom, width, height, page_of[shape], background=True))
    return marks


def _initials_marks(sizes: Sequence[Size], drawn: Appearances) -> list[Mark]:
    return [
        Mark(number, place.x, place.y, place.width, place.height, picture)
        for number, (width, height) in enumerate(sizes, start=1)
        for place, picture in zip(
            initials_row(width, height, len(drawn.initials_pages)), drawn.initials_pages, strict=True
        )
    ]
