"""The values of fields on the pages of a document, as they are sealed."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from paraph.pdf.drawing.marks import Mark
from paraph.pdf.typesetting.field_values import FieldContent, FieldPlace, FieldsContent
from paraph.signature_requests.field_content import field_content
from paraph.signature_requests.field_values import values_of
from paraph.signature_requests.models import Field, RequestDocument, Signer


@dataclass(frozen=True)
class PageValues:
    """The values on one page, as one picture: fifty of them would take twice the time. ``left`` and ``bottom``: where
    its lower left corner stands."""

    page_number: int
    left: float
    bottom: float
    content: FieldsContent

    def mark(self, picture: int) -> Mark:
        return Mark(self.page_number, self.left, self.bottom, self.content.width, self.content.height, picture)


def values_on_pages(row: RequestDocument, signers: Sequence[Signer]) -> list[PageValues]:
    """Return the values that these signers signed, of each page that has some. ``row`` has its request loaded."""
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
