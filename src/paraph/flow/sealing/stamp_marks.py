"""What is drawn on a document when it is sealed: stamps, initials, values of fields and the sandbox watermark, and
where."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from paraph.database.compiled_query import CompiledQuery
from paraph.flow.sealing.page_values import values_on_pages
from paraph.pdf.drawing.initials_row import initials_row
from paraph.pdf.drawing.marks import Mark, Overlay
from paraph.pdf.typesetting.appearances import Appearances, InitialsContent, StampContent, appearances
from paraph.signature_requests.handwriting import initials_of, signature_of
from paraph.signature_requests.models import Placement, RequestDocument, SignatureRequest, Signer
from paraph.tenants.models import Environment

Size = tuple[float, float]

_PLACEMENTS = CompiledQuery(
    lambda: Placement.objects.select_related("signer").order_by("signer__order", "id"), "request_document"
)
_ASPECTS_PER_DOUBLING = 4  # pages whose proportions differ by less than this step share one watermark


@dataclass(frozen=True)
class StampMarks:
    """Arguments of :func:`paraph.pdf.sealing.seal.seal`: a PDF of pictures, the marks that place them, and the
    watermark that lies under the marks of every page (None in production)."""

    appearances: bytes
    marks: list[Mark]
    page_overlay: Overlay | None


def stamp_marks(row: RequestDocument) -> StampMarks:
    """Draw the stamps, initials and values of everyone who signs the document.

    ``row`` has its request and document loaded.
    """
    placements = _PLACEMENTS.all(row.pk)
    signers = list({placement.signer_id: placement.signer for placement in placements}.values())
    sizes: list[Size] = [(width, height) for width, height in row.document.pages]
    initials = [_initials(signer) for signer in signers] if row.request.initials_required else []
    values = values_on_pages(row, signers)
    drawn = appearances(
        [_stamp(placement, row.request) for placement in placements],
        initials,
        _watermark_sizes(sizes) if row.request.environment == Environment.SANDBOX else [],
        [each.content for each in values],
    )
    stamps = [
        Mark(place.page_number, place.x, place.y, place.width, place.height, page)
        for place, page in zip(placements, drawn.stamp_pages, strict=True)
    ]
    marks = _on_every_page(drawn.initials_pages, sizes)
    marks += [each.mark(page) for each, page in zip(values, drawn.fields_pages, strict=True)]
    return StampMarks(drawn.pdf, [*marks, *stamps], _watermark(drawn))


def _stamp(placement: Placement, request: SignatureRequest) -> StampContent:
    signer = placement.signer
    assert signer.signed_at
    return StampContent(
        width=placement.width,
        height=placement.height,
        name=signer.full_name,
        signed_at=signer.signed_at,
        request_id=request.pk,
        signature=signature_of(signer),
        locale=signer.locale,
        address=signer.email,
        signature_only=request.signature_only,
    )


def _initials(signer: Signer) -> InitialsContent:
    return InitialsContent(signer.full_name, initials_of(signer) or {"type": "typed"}, address=signer.email)


def _on_every_page(initials: Sequence[int], sizes: Sequence[Size]) -> list[Mark]:
    return [
        Mark(number, place.x, place.y, place.width, place.height, picture)
        for number, (width, height) in enumerate(sizes, start=1)
        for picture, place in zip(initials, initials_row(width, height, len(initials)), strict=True)
    ]


def _watermark_sizes(sizes: Sequence[Size]) -> list[Size]:
    """Return the sizes to draw a watermark for: the first page's of each proportion, so that a file of a thousand odd
    sizes needs few pictures."""
    first: dict[int, Size] = {}
    for width, height in sizes:
        first.setdefault(round(math.log2(width / height) * _ASPECTS_PER_DOUBLING), (width, height))
    return list(first.values())


def _watermark(drawn: Appearances) -> Overlay | None:
    if not drawn.watermark_pages:
        return None
    first, *others = drawn.watermark_pages
    return Overlay(first, tuple(others))
