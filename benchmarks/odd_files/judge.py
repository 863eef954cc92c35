"""Is the downloaded file what the signer saw, with the stamp on it, and verified?"""

import io
from collections import Counter
from collections.abc import Sequence

from PIL import Image, ImageChops, ImageDraw

from benchmarks.corpus.programs import NoAnswer
from benchmarks.corpus.renderers import PIXELS, Poppler
from benchmarks.corpus.rendering import looked_at
from benchmarks.odd_files.journey import STAMP, Journey
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.untrusted.page_reading import render_page
from paraph.pdf.untrusted.verify import verify
from tests.pdf.pairs import Size, promises, promises_on, rewritten

_PAGE_LIMIT = 2000
_FINEST, _WIDEST = 2.0, 1240.0  # as the signing page draws: pixels per point, pixels of the shorter side
_FAINT = 24  # of 255
_LEAST_INK = 0.01  # of the area of a stamp
_MARGIN = 3  # pixels


def complaint(journey: Journey, roots: Sequence[bytes]) -> str:
    """What is wrong with the sealed file; empty when nothing is."""
    found = verify(journey.sealed, roots)
    if not (found.sound and found.covers_whole_file):  # an upload may bring an earlier signature that was broken
        return f"unverified: {' '.join(found.findings)}"
    try:
        sizes = inspect(journey.sealed, page_limit=_PAGE_LIMIT).pages
        if len(sizes) != len(journey.pictures):
            return f"changed: {len(journey.pictures)} pages became {len(sizes)}"
        return _complaint_of_pdfium(journey, sizes) or _complaint_of_poppler(journey, sizes)
    except (PdfRefused, NoAnswer) as error:
        return f"unreadable: {error}"


def _complaint_of_pdfium(journey: Journey, sizes: Sequence[Size]) -> str:
    """The very picture of the signing page, drawn again from what was sealed."""
    for index in looked_at(len(sizes)):
        seen = _opened(journey.pictures[index])
        scale = min(_FINEST, _WIDEST / min(sizes[index]))
        drawn = _opened(render_page(journey.sealed, index + 1, scale))
        if seen.size != drawn.size:
            return f"changed: PDFium, page {index + 1}: size {seen.size} became {drawn.size}"
        stamp = _stamp_box(drawn.size, sizes[index])
        if index == 0 and not _has_ink(drawn, stamp):
            return "no stamp: PDFium"
        if index == 0:
            for image in (seen, drawn):
                ImageDraw.Draw(image).rectangle(stamp, "white")
        difference = ImageChops.difference(seen, drawn).convert("L").point(lambda value: 255 if value > _FAINT else 0)
        if difference.getbbox():
            return f"changed: PDFium, page {index + 1}: within {difference.getbbox()}"
    return ""


def _complaint_of_poppler(journey: Journey, sizes: Sequence[Size]) -> str:
    """Poppler need not draw as PDFium does, but it shows the stamp and the same copy of each page."""
    indexes, renderer = looked_at(len(sizes)), Poppler()
    pages = renderer.images(journey.sealed, indexes)
    first = pages[0]
    if first is None or not _has_ink(first, _stamp_box(first.size, sizes[0])):
        return "no stamp: poppler"
    seen = [_seen(journey.pictures[index]) for index in indexes]
    read = promises(renderer, journey.sealed, indexes)
    if seen == read or _are_drawn_differently(journey.sealed, indexes, seen):
        return ""
    return f"changed: the signer saw promises {seen}, poppler shows {read}"


def _are_drawn_differently(sealed: bytes, indexes: Sequence[int], seen: list[list[int]]) -> bool:
    """Whether poppler shows something else on a plainly written copy too, where no object has a second copy."""
    plain = rewritten(sealed)
    return plain is not None and promises(Poppler(), plain, indexes) != seen


def _seen(picture: bytes) -> list[int]:
    image = _opened(picture)
    scale = PIXELS / max(image.size)
    size = round(image.width * scale), round(image.height * scale)
    return promises_on(image.resize(size, Image.Resampling.NEAREST))


def _opened(picture: bytes) -> Image.Image:
    return Image.open(io.BytesIO(picture)).convert("RGB")


def _stamp_box(pixels: tuple[int, int], size: Size) -> tuple[float, float, float, float]:
    left, bottom, width, height = STAMP
    x, y = pixels[0] / size[0], pixels[1] / size[1]
    top = size[1] - bottom - height
    return left * x - _MARGIN, top * y - _MARGIN, (left + width) * x + _MARGIN, (top + height) * y + _MARGIN


def _has_ink(image: Image.Image, box: tuple[float, float, float, float]) -> bool:
    """Whether enough of the box is of another colour than most of it."""
    part = image.crop((round(box[0]), round(box[1]), round(box[2]), round(box[3])))
    counted = Counter({colour: count for count, colour in part.getcolors(part.width * part.height) or []})
    return counted.total() - max(counted.values()) > _LEAST_INK * counted.total()
