"""Documents as they are shown: pictures of their pages, drawn once and kept beside the file, and the copy that a signer
takes along before signing."""

import io
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import BinaryIO

from paraph.documents.models import Document, UnrenderablePage
from paraph.evidence.models import SealedDocument
from paraph.kernel.errors import DomainError
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.typesetting.appearances import appearances
from paraph.pdf.typesetting.field_values import FieldContent, FieldPlace, FieldsContent
from paraph.pdf.untrusted.page_reading import preview, render_page, render_printed_page
from paraph.signature_requests.fields.entry import ShownValue, fields_of, values_of_others
from paraph.signature_requests.fields.kinds import field_content
from paraph.signature_requests.models import Signer
from paraph.signature_requests.signing import PageNotShownError
from paraph.storage import store
from paraph.tenants.scope import tenant_key

ZOOMS = (100, 150, 200, 400)  # percent
_FORM = 2  # in the keys of pictures: another number where they are drawn differently, so that old ones are not found
IN_PARTS = 800  # percent: at this zoom, large pages come in parts
_PARTS = range(1, 17)
_LARGE = 2_100_000  # square points, a little above A2: beyond it, small print is unreadable in 16 million pixels
_WIDEST = 1240.0  # pixels: sharp on a phone and beside the form on a desk
_FINEST = 2.0  # pixels per point
_SMALL = 192.0  # pixels: the longer side of a thumbnail, on screens of three pixels to a point
_SHARPEST = 6.0  # pixels per point at any zoom: what is printed at 432 dpi is sharp to any eye


def page_part(document: Document, number: int, part: int) -> bytes:
    """Return one of the sixteen parts of a large page, line by line from the top left, as WebP; together they have four
    times as many pixels as the page's largest picture. Raise ``not_found`` for a part that does not exist, and for a
    page that is sharp in one picture."""
    is_there = part in _PARTS and 1 <= number <= len(document.pages)
    if not is_there or math.prod(document.pages[number - 1]) <= _LARGE:
        raise DomainError("not_found", "There is no such picture.")
    scale = _scale(document, number, IN_PARTS)
    return _kept(_key(document, f"{number}-{IN_PARTS}-{part}"), lambda: _drawn(document, number, scale, part=part))


def page_picture(document: Document, number: int, zoom: int = 100, *, printed: bool = False) -> bytes:
    """Return the page as WebP. ``zoom``: percent of the usual size, one of ``ZOOMS``. ``printed``: the page as it is
    printed, else as it is on the screen. Raise ``not_found`` for a page or zoom that does not exist,
    :class:`PageNotShownError` for a page of which no picture can be drawn."""
    if zoom not in ZOOMS or not 1 <= number <= len(document.pages):
        raise DomainError("not_found", "There is no such page.")
    size = "" if zoom == 100 else f"-{zoom}"
    view = "-print" if printed else ""
    key = _key(document, f"{number}{view}{size}")

    def draw() -> bytes:
        picture = _drawn(document, number, _scale(document, number, zoom), printed=printed)
        if not printed:
            _forget_unrenderable(document, number)
        return picture

    try:
        return _kept(key, draw)
    except PdfRefused as refused:
        if printed:  # what is signed is the page on the screen
            raise PageNotShownError(number, document.name, document.pk) from refused
        return _drawn_by_another(document, number, key, refused)


def thumbnail(document: Document) -> bytes:
    """Return the first page as a small WebP, for lists. Raise ``not_found`` where it cannot be drawn, which says
    nothing about the page in its usual size."""
    try:
        return _kept(_key(document, "1-small"), lambda: _drawn(document, 1, _SMALL / max(document.pages[0])))
    except PdfRefused as refused:
        raise DomainError("not_found", "There is no picture of this page.") from refused


def sealed_picture(sealed: SealedDocument, document: Document, number: int) -> bytes:
    """Return a page as it was sealed, as WebP. It is not kept: it shows signatures, which go when their file goes.
    Raise ``not_found`` for a page that does not exist or cannot be drawn."""
    if not 1 <= number <= len(document.pages):
        raise DomainError("not_found", "There is no such page.")
    pdf, scale = partial(store.get, sealed.object_key), _scale(document, number, 100)
    try:
        return render_page(pdf, number, scale, tenant_key=tenant_key(document), sha256=bytes(sealed.sha256))
    except (PdfRefused, FileNotFoundError) as refused:
        raise DomainError("not_found", "There is no picture of this page.") from refused


def _key(document: Document, picture: str) -> str:
    return f"pages/{document.shown_sha256.hex()}/{picture}-{_FORM}.webp"


def _kept(key: str, draw: Callable[[], bytes]) -> bytes:
    try:
        return store.get(key)
    except FileNotFoundError:
        picture = draw()
        with suppress(OSError):  # without room to keep it, it is drawn again
            store.put(key, picture)
        return picture


def _drawn(document: Document, number: int, scale: float, *, printed: bool = False, part: int = 0) -> bytes:
    draw = render_printed_page if printed else partial(render_page, part=part)
    pdf = partial(store.get, document.shown_key)
    return draw(pdf, number, scale, tenant_key=tenant_key(document), sha256=document.shown_sha256)


def _scale(document: Document, number: int, zoom: int) -> float:
    width, height = document.pages[number - 1]
    return float(min(_SHARPEST, zoom / 100 * min(_FINEST, _WIDEST / min(width, height))))


def _drawn_by_another(document: Document, number: int, key: str, refused: PdfRefused) -> bytes:
    """Return the picture that another call has kept meanwhile. Otherwise raise :class:`PageNotShownError`: the document
    cannot be signed until there is a picture. The page is noted before the picture is looked for, so that of two calls
    at once neither misses what the other does."""
    page = UnrenderablePage(document=document, page_number=number)
    UnrenderablePage.objects.bulk_create([page], ignore_conflicts=True)
    try:
        picture = store.get(key)
    except FileNotFoundError:
        raise PageNotShownError(number, document.name, document.pk) from refused
    _forget_unrenderable(document, number)
    return picture


def _forget_unrenderable(document: Document, number: int) -> None:
    UnrenderablePage.objects.filter(document=document, page_number=number).delete()


MOST_PAGES = 1000  # a longer document is taken along without values

_NAME_SIZE = 6.0  # points
_NAME_HEIGHT = 8.0


class DrawnCopy(io.BytesIO):
    """A document that was drawn for whoever asks: each time it is another file, so nobody can be given a part of it."""


def copy_to_read(signer: Signer, document: Document) -> BinaryIO:
    """Return the document as it is shown, with each value of those who signed before, and their name above it; without
    values where nothing can be drawn over its pages. Raise ``FileNotFoundError``."""
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
    """Return the overlay of each page, in its size; equal ones, such as those without a value, are drawn once."""
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
