"""Pages as PDFium draws them, before and after: the mark and the overlay are there, and nothing else changed."""

import pypdfium2
from PIL import Image, ImageChops, ImageDraw

from paraph.pdf.seal import Mark

_PIXELS = 400  # of the longer side
_MARGIN = 2  # pixels around what was drawn, for smoothed edges
_FAINT = 24  # of 255: rounding of transparency differs by a little where a page is drawn in another order
_RED, _GREEN = (255, 0, 0), (0, 255, 0)
Box = tuple[float, float, float, float]


def placed_mark(size: tuple[float, float]) -> Mark:
    """On page 1: from 5 to 25 % of its width, 5 to 10 % of its height."""
    width, height = size
    return Mark(1, 0.05 * width, 0.05 * height, 0.2 * width, 0.05 * height, 0)


def differences(before: bytes, after: bytes, sizes: list[tuple[float, float]]) -> str:
    """What is wrong with the first page, the second, or the last; empty when nothing is."""
    old, new = pypdfium2.PdfDocument(before), pypdfium2.PdfDocument(after)
    try:
        old.init_forms()
        new.init_forms()
        if len(old) != len(new):
            return f"{len(old)} pages became {len(new)}"
        for index in sorted({0, min(1, len(old) - 1), len(old) - 1}):
            if complaint := _page_difference(old, new, index, sizes[index]):
                return f"page {index + 1}: {complaint}"
        return ""
    finally:
        old.close()
        new.close()


def _page_difference(
    old: pypdfium2.PdfDocument, new: pypdfium2.PdfDocument, index: int, size: tuple[float, float]
) -> str:
    first, second = _image(old, index), _image(new, index)
    if first.size != second.size:
        return f"size {first.size} became {second.size}"
    width, height = first.size
    side = min(width, height * size[0] / size[1])
    drawn: list[tuple[Box, tuple[int, int, int]]] = [
        (
            (width / 2 - 0.4 * side, height / 2 - 0.02 * side, width / 2 + 0.4 * side, height / 2 + 0.02 * side),
            (0, 255, 0),
        )
    ]
    if index == 0:
        drawn.append(((0.05 * width, 0.9 * height, 0.25 * width, 0.95 * height), _RED))
    beneath = _image(new, index, annotations=False)  # annotations may lie on the overlay, never on the mark
    for box, colour in drawn:
        middle = int((box[0] + box[2]) / 2), int((box[1] + box[3]) / 2)
        seen = {second.getpixel(middle), beneath.getpixel(middle)} if colour == _GREEN else {second.getpixel(middle)}
        if colour not in seen:
            return f"{seen} where {colour} belongs"
        for image in (first, second):
            _blank(image, box)
    return _worst(first, second)


def _image(document: pypdfium2.PdfDocument, index: int, *, annotations: bool = True) -> Image.Image:
    page = document[index]
    bitmap = page.render(scale=_PIXELS / max(*page.get_size(), 1), draw_annots=annotations, may_draw_forms=annotations)
    image: Image.Image = bitmap.to_pil().convert("RGB")
    page.close()
    return image


def _blank(image: Image.Image, box: Box) -> None:
    left, top, right, bottom = box
    ImageDraw.Draw(image).rectangle((left - _MARGIN, top - _MARGIN, right + _MARGIN, bottom + _MARGIN), "white")


def _worst(first: Image.Image, second: Image.Image) -> str:
    difference = ImageChops.difference(first, second).convert("L").point(lambda value: 255 if value > _FAINT else 0)
    box = difference.getbbox()
    return f"changed within {box}" if box else ""
