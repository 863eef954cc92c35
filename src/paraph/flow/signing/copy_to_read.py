"""A document as a signer takes it along before signing: with what those before them filled in."""

import io
from collections import defaultdict
from collections.abc import Sequence
from typing import BinaryIO

from paraph.documents.models import Document
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.typesetting.appearances import appearances
from paraph.pdf.typesetting.field_values import FieldContent, FieldPlace, FieldsContent
from paraph.pdf.untrusted.page_reading import preview
from paraph.signature_requests.fields.entry import ShownValue, values_of_others
from paraph.signature_requests.fields.kinds import field_content
from paraph.signature_requests.fields.store import fields_of
from paraph.signature_requests.models import Signer
from paraph.storage import store
from paraph.tenants.scope import tenant_key

MOST_PAGES = 1000  # a longer document is taken along as it was uploaded

_NAME_SIZE = 6.0  # points
_NAME_HEIGHT = 8.0


class DrawnCopy(io.BytesIO):
    """A document that was drawn for whoever asks: each time it is another file, so nobody can be given a part of it."""


def copy_to_read(signer: Signer, document: Document) -> BinaryIO:
    """Return the document as it is shown, with each value of those who signed before, and their name above it; without
    them where nothing can be drawn over its pages. Raise ``FileNotFoundError``."""
    fields = [each for each in fields_of(signer.request_id) if each.request_document.document_id == document.pk]
    values = [each for each in values_of_others(signer, fields) if each.by]
    if not values or len(document.pages) > MOST_PAGES:
        return store.open(document.shown_key)
    overlays = _overlays(document, values)
    drawn = appearances(fields=overlays)
    try:
        pdf = store.get(document.shown_key)
        return DrawnCopy(preview([pdf], drawn.pdf, [drawn.fields_pages], tenant_key=tenant_key(document)))
    except PdfRefused:
        return store.open(document.shown_key)


def _overlays(document: Document, values: Sequence[ShownValue]) -> list[FieldsContent]:
    """Return what lies over each page, of its size; equal ones, such as those without a value, are drawn once."""
    places: dict[int, list[FieldPlace]] = defaultdict(list)
    for each in values:
        assert each.by
        top = document.pages[each.field.page_number - 1][1] - each.field.y - each.field.height
        locale = each.by.request.locale
        name = FieldContent(each.field.width, _NAME_HEIGHT, each.by.full_name, _NAME_SIZE, locale)
        places[each.field.page_number] += [
            FieldPlace(each.field.x, top, field_content(each.field, each.value, locale)),
            FieldPlace(each.field.x, max(top - _NAME_HEIGHT, 0), name),
        ]
    return [
        FieldsContent(width, height, places.get(number, []))
        for number, (width, height) in enumerate(document.pages, start=1)
    ]
