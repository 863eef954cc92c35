"""What is drawn on a document when it is sealed: stamps, initials, values of fields and the sandbox watermark, and
where."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from paraph.documents.models import Document
from paraph.documents.underneath import grounds
from paraph.flow.sealing.page_values import values_on_pages
from paraph.pdf.drawing.initials_row import initials_row
from paraph.pdf.drawing.marks import Mark, Overlay
from paraph.pdf.typesetting.appearances import Appearances, InitialsContent, StampContent, appearances
from paraph.signature_requests.handwriting import initials_of, signature_of
from paraph.signature_requests.models import Placement, RequestDocument, SignatureRequest, Signer
from paraph.signature_requests.stamp_grounds import stamp_grounds
from paraph.tenants.models import Environment

Size = tuple[float, float]

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
    placements = list(row.placements.select_related("signer").order_by("signer__order", "id"))
    signers = list({placement.signer_id: placement.signer for placement in placements}.values())
    sizes: list[Size] = [(width, height) for width, height in row.document.pages]
    initials = _InitialsPlaces(row.document, signers, sizes) if row.request.initials_required else None
    has_ground = stamp_grounds(row.document, placements, keep=False)
    values = values_on_pages(row, signers)
    drawn = appearances(
        [_stamp(placement, row.request, ground=has_ground[placement.pk]) for placement in placements],
        initials.contents if initials else [],
        _watermark_sizes(sizes) if row.request.environment == Environment.SANDBOX else [],
        [each.content for each in values],
    )
    stamps = [
        Mark(place.page_number, place.x, place.y, place.width, place.height, page)
        for place, page in zip(placements, drawn.stamp_pages, strict=True)
    ]
    marks = initials.marks(drawn.initials_pages) if initials else []
    marks += [each.mark(page) for each, page in zip(values, drawn.fields_pages, strict=True)]
    return StampMarks(drawn.pdf, [*marks, *stamps], _watermark(drawn))


def _stamp(placement: Placement, request: SignatureRequest, *, ground: bool) -> StampContent:
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
        ground=ground,
        address=signer.email,
        signature_only=request.signature_only,
    )


class _InitialsPlaces:
    """The initials of everyone on every page, in two forms: as they are, and with a ground, where any needs it."""

    def __init__(self, document: Document, signers: Sequence[Signer], sizes: Sequence[Size]) -> None:
        self._places = [
            (number, index, place)
            for number, (width, height) in enumerate(sizes, start=1)
            for index, place in enumerate(initials_row(width, height, len(signers)))
        ]
        at = [(number, place.x, place.y, place.width, place.height) for number, _, place in self._places]
        self._grounds = grounds(document, at, keep=False)
        self._count = len(signers)
        forms = (False, True) if any(self._grounds) else (False,)
        self.contents = [_initials(signer, ground=ground) for ground in forms for signer in signers]

    def marks(self, pictures: Sequence[int]) -> list[Mark]:
        return [
            Mark(number, place.x, place.y, place.width, place.height, pictures[index + self._count * ground])
            for (number, index, place), ground in zip(self._places, self._grounds, strict=True)
        ]


def _initials(signer: Signer, *, ground: bool) -> InitialsContent:
    mark = initials_of(signer) or {"type": "typed"}
    return InitialsContent(signer.full_name, mark, ground=ground, address=signer.email)


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
