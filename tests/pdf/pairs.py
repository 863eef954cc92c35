"""Pairs: what the signer saw against what was sealed, looked at by two renderers.

An upload ends in a refusal with a sentence, or in a seal such that PDFium and poppler show what PDFium showed the
signer, with the marks on it, and this verification finds nothing wrong. Whatever else happens is a find.
"""

import io
import re
from collections.abc import Sequence

from PIL import Image

from benchmarks.corpus.court import pictures
from benchmarks.corpus.renderers import PIXELS, Poppler, Renderer
from benchmarks.corpus.rendering import differences, looked_at, placed_mark
from paraph.pdf.inspect import Inspection, inspect
from paraph.pdf.marks import Mark
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.render import render_png
from paraph.pdf.verify import verify
from tests.pdf.odd_files.papers import COLOURS
from tests.pdf.sealing import authority, sealed, timestamping

REASONS = frozenset(re.findall(r"``(\w+)``", (PdfRefused.__doc__ or "").partition("Reasons:")[2]))
"""Of refusals, as they are documented."""
_PAGE_LIMIT = 50
_PATCH = 60  # pixels of a colour that make it seen
_NEAR = 12  # of 255
Size = tuple[float, float]


class PairDiffersError(AssertionError):
    """What was sealed is not what was shown."""


class ShownByService:
    """PDFium in the sandbox, through the function that draws the pages of the signing page."""

    name = "PDFium"

    def __init__(self, sizes: Sequence[Size]) -> None:
        self._sizes = sizes

    def images(self, pdf: bytes, indexes: Sequence[int], *, annotations: bool = True) -> list[Image.Image | None]:
        """See :class:`~benchmarks.corpus.renderers.Renderer`."""
        del annotations
        return [_drawn(pdf, index, PIXELS / max(self._sizes[index])) for index in indexes]


def check_pair(pdf: bytes, *, poppler: bool = True) -> str:
    """``refused: <reason>`` or ``sealed: <method>``. Raises :class:`PairDiffersError`; nothing else may be raised."""
    try:
        inspection = inspect(pdf, page_limit=_PAGE_LIMIT)
    except PdfRefused as refused:
        if refused.reason not in REASONS or not refused.message.endswith("."):
            raise PairDiffersError(f"refused without a known reason: {refused.reason}: {refused.message}") from refused
        return f"refused: {refused.reason}"
    shown = getattr(inspection, "prepared", None) or pdf
    content, method = _sealed(shown, inspection)
    _check_looks(
        shown, content, inspection.pages, [ShownByService(inspection.pages), *([Poppler()] if poppler else [])]
    )
    if poppler:
        _check_what_is_promised(shown, content, inspection.pages)
    _check_verdict(content)
    return f"sealed: {method}"


def _sealed(shown: bytes, inspection: Inspection) -> tuple[bytes, str]:
    """With a watermark on every page, as the service draws it in sandbox, and a stamp on the first."""
    watermarks = [_watermark(number, size) for number, size in enumerate(inspection.pages, 1)]
    marks = [*watermarks, placed_mark(inspection.pages[0])]
    try:
        made = sealed(shown, timestamping=timestamping(), appearances=pictures(), marks=marks)
    except Exception as error:
        raise PairDiffersError(f"accepted, and then not sealed: {error!r}") from error
    return made.content, made.method


def _watermark(number: int, size: Size) -> Mark:
    side = min(size)
    return Mark(number, (size[0] - side) / 2, (size[1] - side) / 2, side, side, 1, beneath=True)


def _check_looks(shown: bytes, content: bytes, sizes: Sequence[Size], renderers: Sequence[Renderer]) -> None:
    found = list(differences(shown, content, sizes, renderers, overlay_above_all=True))
    if found:
        raise PairDiffersError("; ".join(found))


def _check_what_is_promised(shown: bytes, content: bytes, sizes: Sequence[Size]) -> None:
    """Renderers draw letters differently, but the colours of the promises alike."""
    indexes = looked_at(len(sizes))
    theirs = Poppler().images(content, indexes)
    for index, signer_saw, reader_sees in zip(
        indexes, ShownByService(sizes).images(shown, indexes), theirs, strict=True
    ):
        if signer_saw is None:
            raise PairDiffersError(f"page {index + 1} is not shown to the signer")
        if reader_sees is None:
            raise PairDiffersError(f"poppler, page {index + 1}: not shown")
        if (mine := _colours(signer_saw)) != (other := _colours(reader_sees)):
            raise PairDiffersError(f"poppler, page {index + 1}: the signer saw colours {mine}, a reader sees {other}")


def _check_verdict(content: bytes) -> None:
    found = verify(content, [authority("p-256").root])
    if not (found.ok and found.covers_whole_file):
        raise PairDiffersError(f"paraph verify: {' '.join(found.findings)}")


def _colours(image: Image.Image) -> list[int]:
    """Which promises are seen: each has a colour of its own."""
    counted = image.getcolors(image.width * image.height) or []
    seen = [0] * len(COLOURS)
    for count, found in counted:
        for which, colour in enumerate(COLOURS):
            if isinstance(found, tuple) and max(abs(a - b) for a, b in zip(colour, found, strict=True)) <= _NEAR:
                seen[which] += count
    return [which for which, count in enumerate(seen) if count > _PATCH]


def _drawn(pdf: bytes, index: int, scale: float) -> Image.Image | None:
    try:
        return Image.open(io.BytesIO(render_png(pdf, index + 1, scale))).convert("RGB")
    except PdfRefused:
        return None
