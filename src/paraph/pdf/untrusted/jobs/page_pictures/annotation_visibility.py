"""Which annotations of a page show on the screen, and which print (ISO 32000-2, 12.5.3)."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

import pikepdf

from paraph.pdf.untrusted.jobs.names import name_of

INVISIBLE = 1
HIDDEN = 1 << 1
PRINT = 1 << 2
NO_VIEW = 1 << 5
_TOGGLE_NO_VIEW = 1 << 8
_MOST = (1 << 31) - 1


class Annotation(NamedTuple):
    """What decides whether an annotation shows. ``draws``: a viewer may draw something for it."""

    subtype: str
    flags: int
    draws: bool

    @property
    def on_screen(self) -> bool:
        hiding = HIDDEN | NO_VIEW | (INVISIBLE if self.subtype == "/Widget" else 0)
        return not self.flags & hiding

    @property
    def in_print(self) -> bool:
        return is_printed(self.flags)

    @property
    def differs(self) -> bool:
        return self.draws and self.on_screen != self.in_print

    @property
    def switches(self) -> bool:
        """Whether it appears or disappears under the mouse."""
        return self.draws and bool(self.flags & _TOGGLE_NO_VIEW) and not self.flags & HIDDEN


def is_printed(flags: int) -> bool:
    return bool(flags & PRINT) and not flags & HIDDEN


def page_annotations(page: pikepdf.Page) -> Iterator[Annotation]:
    """Yield the annotations of a page in the order of /Annots."""
    found = page.obj.get("/Annots")
    for item in found if isinstance(found, pikepdf.Array) else []:
        if isinstance(item, pikepdf.Dictionary):
            yield _annotation(item)


def _annotation(item: Any) -> Annotation:
    kind = name_of(item.get("/Subtype"))
    return Annotation(kind, _flags(item.get("/F")), _draws(item, kind))


def _flags(value: Any) -> int:
    """Return the flags; 0 for values that readers interpret differently, so that the page is compared by drawing it."""
    flags = int(value) if isinstance(value, int | Decimal) else 0
    return flags if 0 <= flags <= _MOST else 0


def _draws(item: Any, kind: str) -> bool:
    """Whether a viewer draws the annotation: popups open on hover only, and PDFium draws no link borders."""
    if kind == "/Popup" or _is_empty(item.get("/Rect")):
        return False
    return kind not in ("", "/Link") or "/AP" in item


def _is_empty(rectangle: Any) -> bool:
    if not isinstance(rectangle, pikepdf.Array) or len(rectangle) != 4:
        return True
    left, bottom, right, top = rectangle
    return bool(left == right or bottom == top)
