"""What a sandboxed reader tells of a page: its words, its picture, and what stamps would cover.

``pdf``, ``tenant_key`` and ``sha256`` of the file: see :meth:`paraph.pdf.untrusted.sandbox.Sandbox.call`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paraph.pdf.untrusted.sandbox import Pdf, sandbox

Place = tuple[int, float, float, float, float]
"""Page number from 1, then left, bottom, width and height in points of reader space (origin bottom left)."""


@dataclass(frozen=True)
class Word:
    """A word and its box in points of reader space, origin at the bottom left. Words with the same ``line`` follow
    each other on it."""

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


def text_layer(pdf: Pdf, page_number: int, *, tenant_key: str = "", sha256: bytes = b"") -> TextLayer:
    """Return the words that a reader sees on the page, in the order of the text. Raise PdfRefused.

    ``pdf``, ``tenant_key`` and ``sha256`` of the file: see :meth:`paraph.pdf.untrusted.sandbox.Sandbox.call`."""
    result, _ = sandbox().call("text", pdf, tenant_key=tenant_key, sha256=sha256, page_number=page_number)
    return TextLayer(result["width"], result["height"], [Word(*word) for word in result["words"]])


def find_covered_words(pdf: Pdf, places: Sequence[Place], *, tenant_key: str = "", sha256: bytes = b"") -> list[str]:
    """Return the words under each place, apart from tags and from blanks to be signed on. Raise PdfRefused.

    ``pdf``, ``tenant_key`` and ``sha256`` of the file: see :meth:`paraph.pdf.untrusted.sandbox.Sandbox.call`."""
    at = [list(place) for place in places]
    answer, _ = sandbox().call("covered_words", pdf, tenant_key=tenant_key, sha256=sha256, places=at)
    words: list[str] = answer["covered"]
    return words


def render_page(
    pdf: Pdf, page_number: int, scale: float, *, part: int = 0, tenant_key: str = "", sha256: bytes = b""
) -> bytes:
    """Return the page as WebP, ``scale`` pixels per point: lossless for text, quality 80 for photos. A huge page is
    drawn smaller, with at most 16 million pixels; in sixteen parts, of which ``part`` names one (1 to 16, in lines from
    the top left), with at most 64 million. Raise PdfRefused, for example ``no_such_page``. Nothing is cached here."""
    arguments: dict[str, Any] = {"page_number": page_number, "scale": scale, "form": "webp", "part": part}
    return sandbox().call("render", pdf, tenant_key=tenant_key, sha256=sha256, **arguments)[1]


def render_png(pdf: bytes, page_number: int, scale: float) -> bytes:
    """Return the page as PNG, every pixel as drawn. Raises as :func:`render_page` does."""
    return sandbox().call("render", pdf, page_number=page_number, scale=scale, form="png")[1]


def render_printed_page(
    pdf: Pdf, page_number: int, scale: float, *, tenant_key: str = "", sha256: bytes = b""
) -> bytes:
    """Return the page as it prints, as WebP: screen-only annotations left out, print-only ones drawn, layers as in
    print. Raises as :func:`render_page` does."""
    arguments: dict[str, Any] = {"page_number": page_number, "scale": scale, "form": "webp", "printed": True}
    return sandbox().call("render", pdf, tenant_key=tenant_key, sha256=sha256, **arguments)[1]
