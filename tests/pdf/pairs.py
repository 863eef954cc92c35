"""Pairs: what the signer saw against what was sealed, looked at by other renderers.

An upload ends in a refusal with a sentence, or in a seal such that PDFium and poppler show what PDFium showed the
signer, with the marks on it, MuPDF shows the same promises where it is installed, and this verification finds nothing
wrong. Any other outcome is a fault.
"""

import io
import re
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

import pikepdf
from PIL import Image

from benchmarks.corpus.court import pictures
from benchmarks.corpus.renderers import PIXELS, Mupdf, Poppler, Renderer
from benchmarks.corpus.rendering import Drawn, differences, looked_at, placed_mark
from paraph.kernel.errors import DomainError
from paraph.pdf.drawing.marks import Mark
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.inspect import Inspection, inspect
from paraph.pdf.untrusted.page_reading import render_png
from paraph.pdf.verification.verify import verify
from tests.pdf.odd_files.papers import COLOURS
from tests.pdf.pdf_factory import saved
from tests.pdf.sealed_files import authority, sealed, timestamping

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


REASONS = frozenset(re.findall(r"``(\w+)``", (PdfRefused.__doc__ or "").partition("Reasons:")[2]))
"""The reasons of refusals, as documented."""
_PAGE_LIMIT = 50


class PairDiffersError(AssertionError):
    """What was sealed is not what was shown."""


def check_pair(pdf: bytes, *, sandbox: bool = True, poppler: bool = True, told: bool = False) -> str:
    """Return ``refused: <reason>``, ``sealed: <method>``, or ``unavailable`` on a machine that is too busy to read the
    file. ``sandbox``: the file gets a watermark on every page; ``told``: the preflight must tell of each page that the
    renderers draw differently.

    Raise :class:`PairDiffersError`; nothing else may be raised.
    """
    try:
        return _outcome(pdf, sandbox=sandbox, poppler=poppler, told=told)
    except DomainError as error:
        if error.code != "unavailable":
            raise
        return "unavailable"


def _outcome(pdf: bytes, *, sandbox: bool, poppler: bool, told: bool) -> str:
    try:
        inspection = inspect(pdf, page_limit=_PAGE_LIMIT)
    except PdfRefused as refused:
        if refused.reason not in REASONS or not refused.message.endswith("."):
            raise PairDiffersError(f"refused without a known reason: {refused.reason}: {refused.message}") from refused
        return f"refused: {refused.reason}"
    shown = getattr(inspection, "prepared", None) or pdf
    content, method = _sealed(shown, inspection, watermark=sandbox)
    looks = Looks(inspection.pages, poppler=poppler)
    check_looks(shown, content, looks, "above" if sandbox else "none")
    if poppler:
        places = inspection.preflight["drawn_differently"] if told else None
        check_promises(shown, content, looks, places)
    _check_verdict(content)
    return f"sealed: {method}"


def _sealed(shown: bytes, inspection: Inspection, *, watermark: bool) -> tuple[bytes, str]:
    """Return the file sealed with a stamp on the first page, and the method."""
    watermarks = [_watermark(number, size) for number, size in enumerate(inspection.pages, 1) if watermark]
    marks = [*watermarks, placed_mark(inspection.pages[0])]
    try:
        made = sealed(shown, timestamping=timestamping(), appearances=pictures(), marks=marks)
    except Exception as error:
        raise PairDiffersError(f"accepted, and then not sealed: {error!r}") from error
    return made.content, made.method


def _watermark(number: int, size: Size) -> Mark:
    """Return the watermark of a page, placed as the service places it."""
    side = min(size)
    return Mark(number, (size[0] - side) / 2, (size[1] - side) / 2, side, side, 1)


def check_looks(shown: bytes, content: bytes, looks: Looks, overlay: Drawn) -> None:
    """Check that in each renderer nothing changed except the marks, which are seen above everything else."""
    indexes = looked_at(len(looks.sizes))
    for index, image in zip(indexes, looks.pdfium.images(shown, indexes), strict=True):
        if image is None:
            raise PairDiffersError(f"page {index + 1} cannot be shown to the signer")
    found = list(differences(shown, content, looks.sizes, looks.renderers, overlay=overlay, signers=looks.pdfium))
    if found:
        raise PairDiffersError("; ".join(found))


def check_promises(
    shown: bytes, content: bytes, looks: Looks, places: Sequence[Mapping[str, Any]] | None = None
) -> None:
    """Check that all renderers show the same copy of each page. Without ``places``, they may differ if they also differ
    on a plainly written file: then they draw the same objects in their own ways. With ``places``, only the pages that
    the preflight tells of may differ."""
    indexes = looked_at(len(looks.sizes))
    seen = promises(looks.pdfium, shown, indexes)
    named = {place["page_number"] for place in places or ()}
    for renderer in looks.others:
        read = promises(renderer, content, indexes)
        if renderer is not looks.poppler:  # others need not open every file
            read = [one if other is None else other for one, other in zip(seen, read, strict=True)]
        pairs = zip(indexes, seen, read, strict=True)
        different = [(index, one, other) for index, one, other in pairs if one != other and index + 1 not in named]
        if different and not (places is None and _are_drawn_differently(shown, looks, renderer, indexes)):
            index, one, other = different[0]
            name = renderer.name
            raise PairDiffersError(f"{name}, page {index + 1}: the signer saw promises {one}, a reader sees {other}")


def _are_drawn_differently(shown: bytes, looks: Looks, renderer: Renderer, indexes: Sequence[int]) -> bool:
    plain = rewritten(shown)
    if plain is None:
        return False
    return promises(looks.pdfium, plain, indexes) != promises(renderer, plain, indexes)


def _check_verdict(content: bytes) -> None:
    found = verify(content, [authority("p-256").root])
    if not found.ok:
        raise PairDiffersError(f"paraph verify: {' '.join(found.findings)}")
