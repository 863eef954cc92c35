"""Comparison of pages before and after sealing, as PDFium draws them with their form fields."""

from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from typing import Any

import pypdfium2
from PIL import Image, ImageChops, ImageDraw

from paraph.pdf.refusal import page_not_shown
from paraph.pdf.structure.geometry import Box
from paraph.pdf.untrusted.jobs.page_pictures.form_fields import show_form_fields

Colour = tuple[int, int, int]

_PIXELS = 800  # of the longer side: enough to show a changed digit of small print
_FAINT = 16  # of 255: rounding differences where a page is drawn inside q and Q
_EDGE = 2  # pixels around a mark, for its anti-aliased edges
_MORE_ATTEMPTS = 4


class LooksDifferent(Exception):
    """A page looks different, or its mark cannot be seen; the message says which."""


def check_looks(before: Any, after: Any, marks: Mapping[int, Box], colour: Colour) -> None:
    """Compare each page that has a mark, outside of the mark, and check that the mark is visible.

    ``before`` and ``after``: files as PDFium takes them. ``marks``: boxes by page index, in fractions of the page's
    width and height from the bottom left. Raises :class:`LooksDifferent`, and PdfRefused ``page_not_shown`` for a page
    that could not be drawn before.
    """
    old, new = _opened(before), _opened(after)
    try:
        if len(old) != len(new):
            raise LooksDifferent(f"{len(old)} pages became {len(new)}")
        for index, box in marks.items():
            try:
                _check_page(_drawn_before(old, index), _drawn(new, index), index, box, colour)
            except LooksDifferent:
                _check_again(before, after, index, box, colour)
    except pypdfium2.PdfiumError as error:
        raise LooksDifferent("a page cannot be drawn any more") from error
    finally:
        new.close()
        old.close()


def _check_again(before: Any, after: Any, index: int, box: Box, colour: Colour) -> None:
    """Compare the page by itself, several times over. PDFium fits the substitute of a missing font to what it drew
    before, in whatever file, and settles only when it draws the same page repeatedly."""
    for _ in range(_MORE_ATTEMPTS - 1):
        with suppress(LooksDifferent):
            return _check_alone(before, after, index, box, colour)
    return _check_alone(before, after, index, box, colour)


def _check_alone(before: Any, after: Any, index: int, box: Box, colour: Colour) -> None:
    old, new = _settled(before, index, _drawn_before), _settled(after, index, _drawn)
    _check_page(old, new, index, box, colour)


def _settled(file: Any, index: int, draw: Callable[[pypdfium2.PdfDocument, int], Image.Image]) -> Image.Image:
    """Draw the page until two pictures in a row are the same, and return the last one."""
    with closing(_opened(file)) as document:
        image = draw(document, index)
        for _ in range(_MORE_ATTEMPTS):
            earlier, image = image, draw(document, index)
            if earlier.tobytes() == image.tobytes():
                break
        return image


def _opened(file: Any) -> pypdfium2.PdfDocument:
    document = pypdfium2.PdfDocument(file)
    show_form_fields(document)
    return document


def _drawn_before(document: pypdfium2.PdfDocument, index: int) -> Image.Image:
    try:
        return _drawn(document, index)
    except (pypdfium2.PdfiumError, ValueError) as error:
        raise page_not_shown(index + 1) from error


def _drawn(document: pypdfium2.PdfDocument, index: int) -> Image.Image:
    page = document[index]
    try:
        bitmap = page.render(scale=_PIXELS / max(*page.get_size(), 1.0), rev_byteorder=True)
        image: Image.Image = bitmap.to_pil().convert("RGB")
        bitmap.close()
        return image
    finally:
        page.close()


def _check_page(old: Image.Image, new: Image.Image, index: int, box: Box, colour: Colour) -> None:
    if old.size != new.size:
        raise LooksDifferent(f"page {index + 1} has another size")
    width, height = new.size
    left, bottom, right, top = box
    if new.getpixel((int((left + right) / 2 * width), int((1 - (bottom + top) / 2) * height))) != colour:
        raise LooksDifferent(f"the mark on page {index + 1} cannot be seen")
    hidden = (left * width - _EDGE, (1 - top) * height - _EDGE, right * width + _EDGE, (1 - bottom) * height + _EDGE)
    for image in (old, new):
        ImageDraw.Draw(image).rectangle(hidden, "white")
    if ImageChops.difference(old, new).convert("L").point(lambda value: value > _FAINT).getbbox():
        raise LooksDifferent(f"page {index + 1} looks different")
