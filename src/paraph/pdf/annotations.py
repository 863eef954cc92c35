"""What lies on top of a page's contents: annotations, form fields among them, would hide a mark drawn beneath."""

from typing import Any

from paraph.pdf.geometry import Box
from paraph.pdf.objects import numeric
from paraph.pdf.pages import Page
from paraph.pdf.revision import Revision

_HIDDEN_OR_NO_VIEW = 2 + 32
_WITHOUT_PICTURE = frozenset({b"/Link", b"/Popup"})


def covered(revision: Revision, page: Page) -> list[Box]:
    """The rectangles, in user space, of the annotations that are shown."""
    annotations = revision.resolve(page.dictionary.get(b"/Annots"))
    shown = [_rectangle(revision, item) for item in annotations] if isinstance(annotations, list) else []
    return [box for box in shown if box is not None]


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes share some area."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _rectangle(revision: Revision, item: Any) -> Box | None:
    annotation = revision.resolve(item)
    if not isinstance(annotation, dict) or annotation.get(b"/Subtype") in _WITHOUT_PICTURE:
        return None
    flags = revision.resolve(annotation.get(b"/F"))
    if isinstance(flags, int) and flags & _HIDDEN_OR_NO_VIEW:
        return None
    corners = revision.resolve(annotation.get(b"/Rect"))
    numbers = [numeric(revision.resolve(corner)) for corner in corners] if isinstance(corners, list) else []
    values = [number for number in numbers if number is not None]
    if len(values) != 4:
        return None
    x1, y1, x2, y2 = values
    return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)
