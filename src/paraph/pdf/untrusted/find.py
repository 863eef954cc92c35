"""Finding the text of tags in a PDF (rule 4.5, ``magic_field``).

A tag matches where it stands verbatim on a page as shown, with letter case, also inside a longer word (``sign1`` in
``sign10``). White space is ignored, since PDF separates words by moving the pen. Composed and decomposed accents,
ligatures and compatibility forms are equal. A tag may be split into runs, kerned, inside form XObjects, on rotated
pages and broken over lines, but not over pages. Text outside the crop box, in form fields and in annotations does not
count. Tags of printable ASCII are supported; other scripts, right-to-left ones included, work as far as the PDF maps
its glyphs to characters.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.sandbox import Pdf, sandbox

GAP = 2.0  # points between the tag's ink and the stamp
ROUNDING = 0.005  # points: a stamp that was computed from a page's size, rounded to hundredths, fits the page


@dataclass(frozen=True)
class FoundTag:
    """The box of the tag's ink in points of reader space (origin bottom left); ``page_number`` counts from 1. A tag
    over several lines has the box of its last line, so that a stamp placed under it is under all of it."""

    page_number: int
    x: float
    y: float
    width: float
    height: float


def find_tags(pdf: Pdf, tags: Sequence[str], *, tenant_key: str = "", sha256: bytes = b"") -> dict[str, FoundTag]:
    """Return the first occurrence of each tag in reading order: by page, from top to bottom, then left to right.
    Tags that do not occur are missing. ``pdf``, ``tenant_key`` and ``sha256``: see
    :meth:`paraph.pdf.untrusted.sandbox.Sandbox.call`. Raise PdfRefused."""
    result, _ = sandbox().call("find", pdf, tenant_key=tenant_key, sha256=sha256, keep=True, tags=list(tags))
    return {tag: _found(*place) for tag, place in result["found"].items()}


def list_tags(pdf: Pdf, *, tenant_key: str = "", sha256: bytes = b"") -> dict[str, FoundTag]:
    """Return the tags that nobody has named: text in double braces, such as ``{{signature:tenant}}``, without its white
    space, at most 200, in reading order of the pages and in text of either direction. ``pdf``, ``tenant_key`` and
    ``sha256`` as for :func:`find_tags`. Raise PdfRefused."""
    result, _ = sandbox().call("tags", pdf, tenant_key=tenant_key, sha256=sha256)
    return {tag: _found(*place) for tag, *place in result["tags"]}


def list_texts(pdf: Pdf, text: str = "", *, tenant_key: str = "", sha256: bytes = b"") -> list[tuple[str, FoundTag]]:
    """Return every place of the text, by default of what stands in double braces, in reading order, at most 500: each
    as it stands there, with single blanks. What matches is as for :func:`find_tags`. ``pdf``, ``tenant_key`` and
    ``sha256`` as there. Raises PdfRefused."""
    result, _ = sandbox().call("texts", pdf, tenant_key=tenant_key, sha256=sha256, text=text)
    return [(verbatim, _found(*place)) for verbatim, *place in result["texts"]]


@dataclass(frozen=True)
class SignatureLine:
    """A line that waits for a signature, in points of reader space; ``label``: what says so."""

    label: str
    page_number: int
    x: float
    y: float
    width: float
    height: float


def list_signature_lines(pdf: Pdf, *, tenant_key: str = "", sha256: bytes = b"") -> list[SignatureLine]:
    """Return the blanks that a word before or under them keeps for a signature, such as ``Signature: ____``: runs of
    underscores or dots, and drawn rules; at most 200, by page. ``pdf``, ``tenant_key`` and ``sha256`` as for
    :func:`find_tags`. Raise PdfRefused."""
    result, _ = sandbox().call("signature_lines", pdf, tenant_key=tenant_key, sha256=sha256)
    return [
        SignatureLine(label, page, left, bottom, right - left, top - bottom)
        for label, page, left, bottom, right, top in result["lines"]
    ]


def _found(page_number: int, left: float, bottom: float, right: float, top: float) -> FoundTag:
    return FoundTag(page_number, left, bottom, right - left, top - bottom)


@dataclass(frozen=True)
class Rect:
    """A rectangle in points of reader space, origin at the bottom left."""

    x: float
    y: float
    width: float
    height: float


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
