"""What lies over the pages of a preview: a box with a name where each stamp would stand, and PREVIEW across."""

from collections.abc import Sequence
from typing import NamedTuple

from paraph.pdf.typesetting.glyph_fallback import template_text
from paraph.pdf.typesetting.typeset import typeset


class PreviewBox(NamedTuple):
    """In points of the page as a reader sees it, origin at the bottom left."""

    x: float
    y: float
    width: float
    height: float
    name: str


class PreviewPage(NamedTuple):
    """``width`` and ``height`` in points, as a reader sees the page."""

    width: float
    height: float
    boxes: tuple[PreviewBox, ...] = ()


def preview_overlays(pages: Sequence[PreviewPage]) -> bytes:
    """Return a PDF with one page for each, without a ground."""
    content = {
        "pages": [
            {
                "width": page.width,
                "height": page.height,
                "boxes": [
                    {
                        "x": box.x,
                        "y": page.height - box.y - box.height,
                        "width": box.width,
                        "height": box.height,
                        "name": template_text(box.name),
                    }
                    for box in page.boxes
                ],
            }
            for page in pages
        ]
    }
    return typeset("preview", content, standard="a-2b")
