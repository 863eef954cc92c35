"""Pages before and after, as two renderers draw them: the mark and the overlay are seen, and nothing else changed."""

from collections.abc import Iterator, Sequence
from typing import Literal

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageStat

from benchmarks.corpus.renderers import Pdfium, Poppler, Renderer
from paraph.pdf.sealing.seal import Mark

_MARGIN = 2  # pixels around what was drawn, for smoothed edges
_FAINT = 24  # of 255: rounding of transparency differs by a little where a page is drawn in another order
_CLOSE = 40  # of 255: so far from its colour a mark may be, where a page is drawn in the colours of print
_LEAST = 2  # pixels: a mark that is narrower covers none wholly, as on a page of five points
_BLUR = 3  # pixels, within which renderers draw the same letters differently
_MUCH_NEARER = 0.5  # of the distance before
_FIRST_PAGES = 5
_RED, _GREEN = (255, 0, 0), (0, 255, 0)
PDFIUM = Pdfium()
BOTH: tuple[Renderer, ...] = (PDFIUM, Poppler())
Box = tuple[float, float, float, float]
Colour = tuple[int, int, int]
Boxes = list[tuple[Box, Colour]]
Drawn = Literal["beneath", "above", "none"]


def placed_mark(size: tuple[float, float]) -> Mark:
    """On page 1: from 5 to 25 % of its width, 5 to 10 % of its height."""
    width, height = size
    return Mark(1, 0.05 * width, 0.05 * height, 0.2 * width, 0.05 * height, 0)


def looked_at(count: int) -> list[int]:
    """The pages that are compared, counted from 0: the first five, the middle and the last."""
    return sorted({*range(min(count, _FIRST_PAGES)), count // 2, count - 1})


def differences(
    before: bytes,
    after: bytes,
    sizes: Sequence[tuple[float, float]],
    renderers: Sequence[Renderer] = BOTH,
    *,
    overlay: Drawn = "beneath",
    signers: Renderer = PDFIUM,
) -> Iterator[str]:
    """What is wrong with a page, one line each, with the renderer's name.

    Annotations of the page may lie on an ``overlay`` that is beneath them, never on the mark. A page that a renderer
    did not show before is judged by the others; one that comes nearer to what ``signers`` shows is no worse than it
    was.
    """
    indexes = looked_at(len(sizes))
    for renderer in renderers:
        old, new = renderer.images(before, indexes), renderer.images(after, indexes)
        bare = renderer.images(after, indexes, annotations=False) if overlay == "beneath" else new
        for index, first, second, third in zip(indexes, old, new, bare, strict=True):
            boxes = marked(second.size, index, sizes[index], overlay=overlay != "none") if second else []
            complaint = _marks_missing(first, second, third, boxes)
            if not complaint and first and second and (place := _changed(first, second, boxes)):
                shown = signers.images(before, [index])[0] if renderer.name != signers.name else None
                complaint = "" if shown and _nearer(first, second, shown, place) else f"changed within {place}"
            if complaint:
                yield f"{renderer.name}, page {index + 1}: {complaint}"


def _marks_missing(
    first: Image.Image | None, second: Image.Image | None, bare: Image.Image | None, boxes: Boxes
) -> str:
    if first is None or second is None:
        return "" if first is None else "shown before and not afterwards"
    if first.size != second.size:
        return f"size {first.size} became {second.size}"
    for box, colour in boxes:
        if min(box[2] - box[0], box[3] - box[1]) < _LEAST:
            continue
        seen = [_middle(image, box) for image in ((second, bare) if colour == _GREEN else (second,)) if image]
        if not any(_alike(colour, found) for found in seen):
            return f"{seen[0]} where {colour} belongs"
    return ""


def _changed(first: Image.Image, second: Image.Image, boxes: Boxes) -> tuple[int, int, int, int] | None:
    """Where they differ outside of the boxes."""
    images = first.copy(), second.copy()
    for (left, top, right, bottom), _ in boxes:
        for image in images:
            box = (left - _MARGIN, top - _MARGIN, right + _MARGIN, bottom + _MARGIN)
            ImageDraw.Draw(image).rectangle(box, "white")
    return ImageChops.difference(*images).convert("L").point(lambda value: 255 if value > _FAINT else 0).getbbox()


def _nearer(first: Image.Image, second: Image.Image, shown: Image.Image, place: tuple[int, int, int, int]) -> bool:
    """Whether ``second`` looks much more like ``shown``, by another renderer, than ``first`` does: it balances what
    its own renderer alone took differently, for example restored states that nobody saved."""
    left, top, right, bottom = place
    around = max(0, left - _BLUR), max(0, top - _BLUR), right + _BLUR, bottom + _BLUR
    blurred = [image.resize(first.size).filter(ImageFilter.GaussianBlur(_BLUR)) for image in (shown, first, second)]
    wanted, before, after = (image.crop(around) for image in blurred)
    far, near = (sum(ImageStat.Stat(ImageChops.difference(wanted, image)).mean) for image in (before, after))
    return near < _MUCH_NEARER * far


def marked(pixels: tuple[int, int], index: int, size: tuple[float, float], *, overlay: bool) -> Boxes:
    """Where on the picture of a page what was drawn should be seen, and in which colour."""
    width, height = pixels
    side = min(width, height * size[0] / size[1])
    bar: Box = (width / 2 - 0.4 * side, height / 2 - 0.02 * side, width / 2 + 0.4 * side, height / 2 + 0.02 * side)
    red: Box = (0.05 * width, 0.9 * height, 0.25 * width, 0.95 * height)
    return [*([(bar, _GREEN)] if overlay else []), *([(red, _RED)] if index == 0 else [])]


def _middle(image: Image.Image, box: Box) -> Colour:
    found = image.getpixel((int((box[0] + box[2]) / 2), int((box[1] + box[3]) / 2)))
    assert isinstance(found, tuple)
    return found[0], found[1], found[2]


def _alike(wanted: Colour, found: Colour) -> bool:
    return max(abs(a - b) for a, b in zip(wanted, found, strict=True)) <= _CLOSE
