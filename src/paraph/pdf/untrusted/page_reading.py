"""What a sandboxed reader tells of a page: its words, its picture, and what it shows where stamps are to stand.

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


@dataclass(frozen=True)
class Underneath:
    """What lies under a stamp. ``dark``: the page is too dark or too busy there for the stamp's letters to be read
    without a ground of their own. ``words``: what it covers, apart from tags and from blanks to be signed on."""

    dark: bool = False
    words: str = ""


def look_underneath(
    pdf: Pdf,
    places: Sequence[Place],
    *,
    pictures: bool = True,
    texts: bool = False,
    tenant_key: str = "",
    sha256: bytes = b"",
) -> list[Underneath]:
    """Return what lies under each place: with ``pictures``, by that of the page as signers see it, whether it is dark;
    with ``texts``, the words.
    ``pdf``, ``tenant_key`` and ``sha256``: see :meth:`paraph.pdf.untrusted.sandbox.Sandbox.call`. Raise PdfRefused."""
    arguments: dict[str, Any] = {"places": [list(place) for place in places], "pictures": pictures, "texts": texts}
    answer, _ = sandbox().call("stamp_places", pdf, tenant_key=tenant_key, sha256=sha256, **arguments)
    return [Underneath(dark, words) for dark, words in zip(answer["dark"], answer["covered"], strict=True)]


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
