"""Where a stamp goes that follows a tag (specification 4.5, ``magic_field``)."""

from dataclasses import dataclass

from paraph.pdf.find import Found
from paraph.pdf.refusal import PdfRefused

GAP = 2.0  # points between the tag's ink and the stamp


@dataclass(frozen=True)
class Rect:
    """Points of reader space, origin bottom left of the page."""

    x: float
    y: float
    width: float
    height: float


def under(found: Found, page_size: tuple[float, float], width: float = 200, height: float = 80) -> Rect:
    """A rectangle just under the tag and centred on it, moved into the page where it would stick out.

    ``page_size`` as ``inspect`` gives it. Raises PdfRefused ``too_small`` when the page has no room for it at all.
    """
    page_width, page_height = page_size
    if width > page_width or height > page_height:
        size = f"{page_width:g} by {page_height:g} points"
        message = f"Page {found.page_number} ({size}) is smaller than the stamp ({width:g} by {height:g} points)."
        raise PdfRefused("too_small", message)
    x = found.x + found.width / 2 - width / 2
    y = found.y - GAP - height
    return Rect(min(max(x, 0.0), page_width - width), min(max(y, 0.0), page_height - height), width, height)
