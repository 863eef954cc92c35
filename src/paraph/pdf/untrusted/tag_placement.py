"""The place of a stamp that follows a tag (rule 4.5, ``magic_field``)."""

from dataclasses import dataclass

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.find import FoundTag

GAP = 2.0  # points between the tag's ink and the stamp
ROUNDING = 0.005  # points: a stamp that was computed from a page's size, rounded to hundredths, fits the page


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
    surroundings. Raises PdfRefused: ``too_small`` if the stamp does not fit the page at all, ``no_room`` if it does not
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
