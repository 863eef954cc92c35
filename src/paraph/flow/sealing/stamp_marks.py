"""What is drawn on a document when it is sealed: stamps, initials, values of fields and the sandbox watermark, and
where."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from paraph.pdf.drawing.marks import Mark, Overlay, initials_row
from paraph.pdf.typesetting.appearances import InitialsContent, StampContent, appearances
from paraph.pdf.typesetting.field_values import FieldContent, FieldPlace, FieldsContent
from paraph.signature_requests.fields.entry import values_of
from paraph.signature_requests.fields.kinds import field_content
from paraph.signature_requests.marks import initials_of, signature_of
from paraph.signature_requests.models import Field, Placement, RequestDocument, SignatureRequest, Signer
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


@dataclass(frozen=True)
class PageValues:
    """The values on one page, as one picture: fifty pictures would take twice the time. ``left`` and ``bottom``: where
    its lower left corner stands."""

    page_number: int
    left: float
    bottom: float
    content: FieldsContent

    def mark(self, picture: int) -> Mark:
        return Mark(self.page_number, self.left, self.bottom, self.content.width, self.content.height, picture)


def stamp_marks(row: RequestDocument) -> StampMarks:
    """Draw the stamps, initials and values of everyone who signs the document. ``row`` has its request and document
    loaded."""
    placements = list(row.placements.select_related("signer").order_by("signer__order", "id"))
    signers = list({placement.signer_id: placement.signer for placement in placements}.values())
    sizes: list[Size] = [(width, height) for width, height in row.document.pages]
    initials = [
        InitialsContent(signer.full_name, initials_of(signer) or {"type": "typed"}, address=signer.email)
        for signer in (signers if row.request.initials_required else ())
    ]
    values = _values_on_pages(row, signers)
    drawn = appearances(
        [stamp_content(placement, row.request) for placement in placements],
        initials,
        _watermark_sizes(sizes) if row.request.environment == Environment.SANDBOX else [],
        [each.content for each in values],
    )
    marks = [
        Mark(number, place.x, place.y, place.width, place.height, picture)
        for number, (width, height) in enumerate(sizes, start=1)
        for picture, place in zip(drawn.initials_pages, initials_row(width, height, len(initials)), strict=True)
    ]
    marks += [each.mark(page) for each, page in zip(values, drawn.fields_pages, strict=True)]
    marks += [
        Mark(place.page_number, place.x, place.y, place.width, place.height, page)
        for place, page in zip(placements, drawn.stamp_pages, strict=True)
    ]
    watermark = Overlay(drawn.watermark_pages[0], tuple(drawn.watermark_pages[1:])) if drawn.watermark_pages else None
    return StampMarks(drawn.pdf, marks, watermark)


def stamp_content(placement: Placement, request: SignatureRequest) -> StampContent:
    """Return the stamp at the place of a signer who has signed, and whose row is loaded."""
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


def _watermark_sizes(sizes: Sequence[Size]) -> list[Size]:
    """Return the sizes to draw a watermark for: the first page's of each proportion, so that a file of a thousand odd
    sizes needs few pictures."""
    first: dict[int, Size] = {}
    for width, height in sizes:
        first.setdefault(round(math.log2(width / height) * _ASPECTS_PER_DOUBLING), (width, height))
    return list(first.values())


def _values_on_pages(row: RequestDocument, signers: Sequence[Signer]) -> list[PageValues]:
    """Return the values that these signers signed, for each page with any. ``row`` has its request loaded."""
    values = {signer.pk: values_of(signer) for signer in signers if signer.fields_encrypted is not None}
    fields = row.fields.order_by("id") if values else []  # most requests have none, and are not searched for them
    locale = row.request.locale
    return on_pages(
        (field, field_content(field, values.get(field.signer_id, {}).get(field.pk), locale)) for field in fields
    )


def on_pages(fields: Iterable[tuple[Field, FieldContent]]) -> list[PageValues]:
    """Return what is drawn for these fields, by page; nothing for what is blank."""
    pages: dict[int, list[tuple[Field, FieldContent]]] = defaultdict(list)
    for field, content in fields:
        if not content.is_blank:
            pages[field.page_number].append((field, content))
    return [_on_page(number, filled) for number, filled in sorted(pages.items())]


def _on_page(number: int, filled: Sequence[tuple[Field, FieldContent]]) -> PageValues:
    left, bottom = min(field.x for field, _ in filled), min(field.y for field, _ in filled)
    right = max(field.x + field.width for field, _ in filled)
    top = max(field.y + field.height for field, _ in filled)
    places = [FieldPlace(field.x - left, top - field.y - field.height, content) for field, content in filled]
    return PageValues(number, left, bottom, FieldsContent(right - left, top - bottom, places))
