"""Pictures of pages by several renderers, and which promises are seen on them."""

import io
import shutil
from collections.abc import Sequence

import pikepdf
from PIL import Image

from benchmarks.corpus.renderers import PIXELS, Mupdf, Poppler, Renderer
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.page_reading import render_png
from tests.pdf.odd_files.papers import COLOURS
from tests.pdf.pdf_factory import saved

_PATCH = 60  # pixels: a colour with more of them counts as seen
_NEAR = 12  # of 255
Size = tuple[float, float]
Images = list[Image.Image | None]


class Looks:
    """The renderers that look at one upload with pages of these ``sizes``; each draws a file once."""

    def __init__(self, sizes: Sequence[Size], *, poppler: bool = True) -> None:
        self.sizes = sizes
        self.pdfium = _Remembering(ShownByService(sizes))
        self.poppler = _Remembering(Poppler())
        self.others = [self.poppler, *([_Remembering(Mupdf())] if shutil.which("mutool") else [])]
        """Each of these must show the promises that the signer saw."""
        self.renderers: list[Renderer] = [self.pdfium, *([self.poppler] if poppler else [])]


class ShownByService:
    """PDFium in the sandbox, through the function that draws the pages of the signing page."""

    name = "PDFium"

    def __init__(self, sizes: Sequence[Size]) -> None:
        self._sizes = sizes

    def images(self, pdf: bytes, indexes: Sequence[int], *, annotations: bool = True) -> Images:
        """See :class:`~benchmarks.corpus.renderers.Renderer`; always with annotations."""
        del annotations
        return [_drawn(pdf, index, PIXELS / max(*self._sizes[index], 1)) for index in indexes]


def promises(renderer: Renderer, pdf: bytes, indexes: Sequence[int]) -> list[list[int] | None]:
    """Return which promises of :mod:`tests.pdf.odd_files.papers` a renderer shows on each page; None for a page that it
    does not show. Promises are told apart by colour, as renderers draw letters differently."""
    return [None if image is None else promises_on(image) for image in renderer.images(pdf, indexes)]


def promises_on(image: Image.Image) -> list[int]:
    """Return the promises seen in a picture whose longer side has about :data:`PIXELS` pixels."""
    seen = [0] * len(COLOURS)
    for count, found in image.getcolors(image.width * image.height) or []:
        for which, colour in enumerate(COLOURS):
            if isinstance(found, tuple) and max(abs(a - b) for a, b in zip(colour, found, strict=True)) <= _NEAR:
                seen[which] += count
    return [which for which, count in enumerate(seen) if count > _PATCH]


def rewritten(pdf: bytes) -> bytes | None:
    """Return the same document, plainly written by qpdf; None where qpdf cannot read it."""
    try:
        with pikepdf.open(io.BytesIO(pdf), suppress_warnings=True) as document:
            return saved(document, encryption=False)
    except (pikepdf.PikepdfError, ValueError, RuntimeError, KeyError, TypeError):
        return None


class _Remembering:
    def __init__(self, renderer: Renderer) -> None:
        self.name = renderer.name
        self._renderer = renderer
        self._known: dict[tuple[bytes, tuple[int, ...], bool], Images] = {}

    def images(self, pdf: bytes, indexes: Sequence[int], *, annotations: bool = True) -> Images:
        key = (pdf, tuple(indexes), annotations)
        if key not in self._known:
            self._known[key] = self._renderer.images(pdf, indexes, annotations=annotations)
        return self._known[key]


def _drawn(pdf: bytes, index: int, scale: float) -> Image.Image | None:
    try:
        return Image.open(io.BytesIO(render_png(pdf, index + 1, scale))).convert("RGB")
    except PdfRefused:
        return None
