"""What a sandboxed reader finds on pages: words, tags, signature lines, pictures, and what stamps would cover.

``pdf``, ``tenant_key`` and ``sha256`` of a file: see :meth:`paraph.pdf.untrusted.sandbox.Sandbox.call`. Each function
raises PdfRefused and ReadersUnavailable as that method does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.structure.pages import Rect
from paraph.pdf.untrusted.sandbox import Pdf, sandbox

GAP = 2.0  # points between the tag's ink and the stamp
ROUNDING = 0.005  # points: a stamp that was computed from a page's size, rounded to hundredths, fits the page
_PREVIEW_PATIENCE = 3

Place = tuple[int, float, float, float, float]
"""Page number from 1, then left, bottom, width and height in points of reader space (origin bottom left)."""


@dataclass(frozen=True)
class Word:
    """A word and its box in points of reader space, from the bottom left. The words of a ``line`` follow each other."""

    text: str
    x: float
    y: float
    width: float
    height: float
    line: int


@dataclass(frozen=True)
class TextLayer:
    """``width`` and ``height`` of the page in points of reader space."""

    width: float
    height: float
    words: list[Word]


@dataclass(frozen=True)
class FoundTag:
    """The box of the tag's ink in points of reader space (origin bottom left); ``page_number`` counts from 1. A tag
    over several lines has the box of its last line, so that a stamp placed under it is under all of it."""

    page_number: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class SignatureLine:
    """A blank to be written on, in points of reader space; ``room``: points that are free over it. ``label``: the words
    that say what it is for; ``about``: all words around it; ``is_for_signature``: known to be for a signature."""

    label: str
    page_number: int
    x: float
    y: float
    width: float
    height: float
    room: float
    about: str
    is_for_signature: bool


def text_layer(pdf: Pdf, page_number: int, *, tenant_key: str = "", sha256: bytes = b"") -> TextLayer:
    """Return the words that a reader sees on the page, in the order of the text. Raise PdfRefused."""
    result, _ = sandbox().call("text", pdf, tenant_key=tenant_key, sha256=sha256, page_number=page_number)
    return TextLayer(result["width"], result["height"], [Word(*word) for word in result["words"]])


def find_covered_words(
    pdf: Pdf, places: Sequence[Place], *, tenant_key: str = "", sha256: bytes = b""
) -> list[list[str]]:
    """Return the whole words under each place, by lines, apart from tags and from blanks to be signed on."""
    answer, _ = sandbox().call("covered_words", pdf, tenant_key=tenant_key, sha256=sha256, places=list(places))
    return list(answer["covered"])


def render_page(
    pdf: Pdf, page_number: int, scale: float, *, part: int = 0, tenant_key: str = "", sha256: bytes = b""
) -> bytes:
    """Return the page as WebP, ``scale`` pixels per point: lossless for text, quality 80 for photos. A huge page is
    drawn smaller: it has at most 16 million pixels, or 64 million in its sixteen parts. ``part``: the one to return (1
    to 16, in lines from the top left). Raise PdfRefused, for example ``no_such_page``. Nothing is cached here."""
    return _render(pdf, tenant_key, sha256, page_number=page_number, scale=scale, form="webp", part=part)


def render_png(pdf: bytes, page_number: int, scale: float) -> bytes:
    """Return the page as PNG, every pixel as drawn. Raise as :func:`render_page` does."""
    return _render(pdf, page_number=page_number, scale=scale, form="png")


def render_printed_page(
    pdf: Pdf, page_number: int, scale: float, *, tenant_key: str = "", sha256: bytes = b""
) -> bytes:
    """Return the page as it prints, as WebP: screen-only annotations left out, print-only ones drawn, layers as in
    print. Raise as :func:`render_page` does."""
    return _render(pdf, tenant_key, sha256, page_number=page_number, scale=scale, form="webp", printed=True)


def _render(pdf: Pdf, tenant_key: str = "", sha256: bytes = b"", **arguments: Any) -> bytes:
    return sandbox().call("render", pdf, tenant_key=tenant_key, sha256=sha256, **arguments)[1]


def preview(pdfs: Sequence[bytes], overlays: bytes, places: Sequence[Sequence[int]], *, tenant_key: str) -> bytes:
    """Return the pages of all files in one PDF. ``places``: for each page of each file the page of ``overlays`` that
    lies over it, counted from 0; it has the size of the page under it as a reader sees that page."""
    how: dict[str, Any] = {"patience": _PREVIEW_PATIENCE, "places": [list(each) for each in places]}
    return sandbox().call("preview", [*pdfs, overlays], tenant_key=tenant_key, **how)[1]


def find_tags(pdf: Pdf, tags: Sequence[str], *, tenant_key: str = "", sha256: bytes = b"") -> dict[str, FoundTag]:
    """Return the first occurrence of each tag (rule 4.5) in reading order: by page, from top to bottom, then left to
    right. Tags that do not occur are missing.

    A tag matches where it stands verbatim on a page as shown, with letter case, also inside a longer word (``sign1`` in
    ``sign10``). White space is ignored, since PDF separates words by moving the pen. Composed and decomposed accents,
    ligatures and compatibility forms are equal. A tag may be split into runs, kerned, inside form XObjects, on rotated
    pages and broken over lines, but not over pages. Text outside the crop box, in form fields and in annotations does
    not count. Tags of printable ASCII are supported; other scripts, right-to-left ones included, work as far as the PDF
    maps its glyphs to characters. Raise PdfRefused.
    """
    result, _ = sandbox().call("find", pdf, tenant_key=tenant_key, sha256=sha256, keep=True, tags=list(tags))
    return {tag: _found(*place) for tag, place in result["found"].items()}


def list_tags(pdf: Pdf, *, tenant_key: str = "", sha256: bytes = b"") -> dict[str, FoundTag]:
    """Return all text in double braces, such as ``{{signature:tenant}}``, as tags without white space: at most 200, in
    reading order of the pages, in text of either direction."""
    result, _ = sandbox().call("tags", pdf, tenant_key=tenant_key, sha256=sha256)
    return {tag: _found(*place) for tag, *place in result["tags"]}


def list_texts(pdf: Pdf, text: str = "", *, tenant_key: str = "", sha256: bytes = b"") -> list[tuple[str, FoundTag]]:
    """Return every occurrence of the text, by default of all text in double braces, in reading order, at most 500: its
    wording there, with single blanks, and its box. A text matches as in :func:`find_tags`."""
    result, _ = sandbox().call("texts", pdf, tenant_key=tenant_key, sha256=sha256, text=text)
    return [(verbatim, _found(*place)) for verbatim, *place in result["texts"]]


def list_signature_lines(pdf: Pdf, *, tenant_key: str = "", sha256: bytes = b"") -> list[SignatureLine]:
    """Return the blanks to be written on: runs of underscores or dots, rules, and cells of tables. In reading order,
    first those that words beside, over or under them reserve for a signature, as ``Signature: ____``, or for a party;
    at most 200 of these, and 200 others."""
    result, _ = sandbox().call("signature_lines", pdf, tenant_key=tenant_key, sha256=sha256)
    return [SignatureLine(label, *vars(_found(*told[:5])).values(), *told[5:]) for label, *told in result["lines"]]


def _found(page_number: int, left: float, bottom: float, right: float, top: float) -> FoundTag:
    return FoundTag(page_number, left, bottom, right - left, top - bottom)


def under(found: FoundTag, page_size: tuple[float, float], width: float = 200, height: float = 80) -> Rect:
    """Return a rectangle just under the tag and centred on it, shifted sideways onto the page if it would stick out.

    ``page_size`` as ``inspect`` returns it. The rectangle is never moved up, where it would cover the tag and its
    surroundings. Raise PdfRefused: ``too_small`` if the stamp does not fit the page at all, ``no_room`` if it does not
    fit under the tag.
    """
    page_width, page_height = page_size
    stamp = f"the stamp ({width:g} by {height:g} points)"
    if width > page_width or height > page_height:
        size = f"{page_width:g} by {page_height:g} points"
        raise PdfRefused("too_small", f"Page {found.page_number} ({size}) is smaller than {stamp}.")
    x = found.x + found.width / 2 - width / 2
    y = found.y - GAP - height
    if y < -ROUNDING:
        room = f"{max(found.y - GAP, 0):.1f} points of room"
        raise PdfRefused("no_room", f"There are {room} under the tag on page {found.page_number} for {stamp}.")
    return Rect(min(max(x, 0.0), page_width - width), max(y, 0.0), width, height)
