"""Pictures of the pages of documents: drawn once, kept in storage beside the file."""

from contextlib import suppress
from functools import partial

from paraph.documents import unrenderable_pages as unshown_pages
from paraph.documents.models import Document
from paraph.kernel.errors import DomainError
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.page_reading import render_page, render_printed_page
from paraph.signature_requests.signed_documents import PageNotShownError
from paraph.storage import store
from paraph.tenants.scope import tenant_key

ZOOMS = (100, 150, 200, 400)  # percent
_FORM = 2  # of the kept pictures: another number where they are drawn in another way, so that old ones are not found
IN_PARTS = 800  # percent: at this zoom, large pages come in parts
_PARTS = range(1, 17)
_LARGE = 2_100_000  # square points, a little above A2: one picture of 16 million pixels leaves small print unreadable
_WIDEST = 1240.0  # pixels: sharp on a phone and beside the form on a desk
_FINEST = 2.0  # pixels per point
_SMALL = 192.0  # pixels: the longer side of a thumbnail, on screens of three pixels to a point
_SHARPEST = 6.0  # pixels per point at any zoom: what is printed at 432 dpi is sharp to any eye


def page_part(document: Document, number: int, part: int) -> bytes:
    """Return one of the sixteen parts of a large page, in lines from the top left, as WebP; all together have four
    times as many pixels as its largest picture.

    Raise ``not_found`` for a part that there is not, and for a page that is sharp in one picture.
    """
    if part not in _PARTS or not 1 <= number <= len(document.pages) or not _is_large(document, number):
        raise DomainError("not_found", "There is no such picture.")
    key = f"pages/{document.shown_sha256.hex()}/{number}-{IN_PARTS}-{part}-{_FORM}.webp"
    try:
        return store.get(key)
    except FileNotFoundError:
        picture = _drawn(document, number, IN_PARTS, part=part)
        with suppress(OSError):
            store.put(key, picture)
        return picture


def page_picture(document: Document, number: int, zoom: int = 100, *, printed: bool = False) -> bytes:
    """Return the page as WebP. ``zoom``: percent of the usual size, one of ``ZOOMS``. ``printed``: the page as it is
    printed, else as it is on the screen.

    Raise ``not_found`` for a page or zoom that there is not, :class:`PageNotShownError` for one of which no picture
    can be drawn.
    """
    if zoom not in ZOOMS or not 1 <= number <= len(document.pages):
        raise DomainError("not_found", "There is no such page.")
    size = "" if zoom == 100 else f"-{zoom}"
    view = "-print" if printed else ""
    key = f"pages/{document.shown_sha256.hex()}/{number}{view}{size}-{_FORM}.webp"
    try:
        return store.get(key)
    except FileNotFoundError:
        try:
            picture = _drawn(document, number, zoom, printed=printed)
        except PdfRefused as refused:
            if printed:  # what is signed is the page on the screen
                raise PageNotShownError(number, document.name, document.pk) from refused
            return _drawn_by_another(document, number, key, refused)
        with suppress(OSError):  # without room to keep it, it is drawn again
            store.put(key, picture)
        if not printed:
            unshown_pages.forget(document, number)
        return picture


def thumbnail(document: Document) -> bytes:
    """Return the first page as a small WebP, for lists. Raise ``not_found`` where it cannot be drawn, which says
    nothing yet of the page in its usual size."""
    key = f"pages/{document.shown_sha256.hex()}/1-small-{_FORM}.webp"
    try:
        return store.get(key)
    except FileNotFoundError:
        scale = _SMALL / max(document.pages[0])
        pdf = partial(store.get, document.shown_key)
        try:
            picture = render_page(pdf, 1, scale, tenant_key=tenant_key(document), sha256=document.shown_sha256)
        except PdfRefused as refused:
            raise DomainError("not_found", "There is no picture of this page.") from refused
        with suppress(OSError):
            store.put(key, picture)
        return picture


def _is_large(document: Document, number: int) -> bool:
    width, height = document.pages[number - 1]
    return bool(width * height > _LARGE)


def _drawn(document: Document, number: int, zoom: int, *, printed: bool = False, part: int = 0) -> bytes:
    width, height = document.pages[number - 1]
    draw = render_printed_page if printed else partial(render_page, part=part)
    scale = min(_SHARPEST, zoom / 100 * min(_FINEST, _WIDEST / min(width, height)))
    pdf = partial(store.get, document.shown_key)
    return draw(pdf, number, scale, tenant_key=tenant_key(document), sha256=document.shown_sha256)


def _drawn_by_another(document: Document, number: int, key: str, refused: PdfRefused) -> bytes:
    """Return the picture that another call has kept meanwhile. Else raise :class:`PageNotShownError`: the page stands
    in the way of signatures until there is a picture. It is remembered before the picture is looked for, so that two
    calls at once cannot both miss what the other does."""
    unshown_pages.remember(document, number)
    try:
        picture = store.get(key)
    except FileNotFoundError:
        raise PageNotShownError(number, document.name, document.pk) from refused
    unshown_pages.forget(document, number)
    return picture
