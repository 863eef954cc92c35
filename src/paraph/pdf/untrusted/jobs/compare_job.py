"""Comparison of pages as PDFium draws them with pictures of them by a second renderer."""

import re
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import pypdfium2
from PIL import Image, ImageChops, ImageFilter

from paraph.pdf.refusal import page_not_shown
from paraph.pdf.structure.pages import transform_box
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile, geometry_of_page
from paraph.pdf.untrusted.jobs.upload_checks.disputes.disputes import COVERED, Dispute, ShownPage, place_of
from paraph.pdf.untrusted.sandbox_wire import JobAnswer
from paraph.pdf.untrusted.second_renderer import RESOLUTION

_RADII = (10, 4)  # pixels: an area of 25 by 11 points, a short word; renderers agree on how dark one is
_AREA = ImageFilter.BoxBlur(_RADII)
_SHIFT = 3  # pixels by which they may put it elsewhere
_APART = 60  # of 255: a word that only one of them shows is 80 and more, substitutes of fonts are below 45
_LINE_APART = 6  # rows of pixels between two lines of text
_TURNED = 3  # pixels by which the sizes of two pictures of one page may differ
_MOST_PIXELS = 1 << 24
_HEAD = re.compile(rb"P5\n(\d{1,5}) (\d{1,5})\n255\n")


def compare(file: UntrustedFile, pictures: UntrustedFile, first: int) -> JobAnswer:
    """Return ``{"places": [[{"page_number", "x", "y", "width", "height", "what"}, over text], …], "compared": count}``:
    the lines of each page that the renderers draw differently by a word or more, in points of reader space, and whether
    there is text in them. ``pictures``: PGM of pages from ``first`` on, counted from 1, at ``RESOLUTION``;
    ``compared``: of how many pages there is a whole one."""
    document, count = file.pdfium(), 0
    places: list[tuple[dict[str, Any], bool]] = []
    for count, theirs in enumerate(_pictures(pictures.whole), start=1):
        places += _different(file, document, first + count - 2, theirs)
    return {"places": places, "compared": count}, b""


def _pictures(content: bytes) -> Iterator[Image.Image]:
    """Yield each whole PGM, as its grammar has it without comments."""
    position = 0
    while head := _HEAD.match(content, position):
        width, height = int(head[1]), int(head[2])
        position = head.end() + width * height
        if width * height > _MOST_PIXELS or position > len(content):
            return
        yield Image.frombytes("L", (width, height), content[head.end() : position])


def _different(
    file: UntrustedFile, document: pypdfium2.PdfDocument, index: int, theirs: Image.Image
) -> Iterator[tuple[dict[str, Any], bool]]:
    try:
        page = document[index]
        geometry = geometry_of_page(file, page, index)
        scale = RESOLUTION / 72
        ours = page.render(scale=scale, draw_annots=False, may_draw_forms=False).to_pil().convert("L")
        page.close()
        with ShownPage(document, index, geometry) as shown:
            for left, top, right, bottom in _boxes(ours, theirs):
                box = (left / scale, geometry.height - bottom / scale, right / scale, geometry.height - top / scale)
                area = transform_box(geometry.to_user, box)
                over_text = shown.covered_letter(area) >= COVERED or shown.has_picture_in(area)
                yield place_of(Dispute(index, "contents", area), geometry), over_text
    except (pypdfium2.PdfiumError, ValueError) as error:
        raise page_not_shown(index + 1) from error


def _boxes(ours: Image.Image, theirs: Image.Image) -> Iterator[tuple[int, int, int, int]]:
    """Yield the lines in which one of the pictures is darker by a word, in pixels from the top left: the whole page
    where their sizes differ."""
    if abs(ours.width - theirs.width) > _TURNED or abs(ours.height - theirs.height) > _TURNED:
        yield 0, 0, *ours.size
        return
    size = min(ours.width, theirs.width), min(ours.height, theirs.height)
    one, other = (picture.crop((0, 0, *size)).filter(_AREA) for picture in (ours, theirs))
    different = ImageChops.lighter(_beyond(one, other), _beyond(other, one)).point(lambda value: 255 * (value > _APART))
    for first, last in _rows(different):
        line = different.crop((0, first, different.width, last)).getbbox()
        if line:
            yield line[0] - _RADII[0], first - _RADII[1], line[2] + _RADII[0], last + _RADII[1]


def _rows(different: Image.Image) -> list[list[int]]:
    """Return the first row of each line, and the one after its last."""
    found: list[list[int]] = []
    for row in (row for row in range(different.height) if different.crop((0, row, different.width, row + 1)).getbbox()):
        if found and row - found[-1][1] <= _LINE_APART:
            found[-1][1] = row + 1
        else:
            found.append([row, row + 1])
    return found


def _beyond(one: Image.Image, other: Image.Image) -> Image.Image:
    """Return by how much each area of ``one`` is darker or lighter than every area of ``other`` next to it."""
    lighter = ImageChops.subtract(one, _around(other, ImageChops.lighter))
    return ImageChops.lighter(lighter, ImageChops.subtract(_around(other, ImageChops.darker), one))


def _around(picture: Image.Image, choose: Callable[[Image.Image, Image.Image], Image.Image]) -> Image.Image:
    for across, down in ((1, 0), (0, 1)):
        moved = (ImageChops.offset(picture, step * across, step * down) for step in range(-_SHIFT, _SHIFT + 1))
        picture = reduce(choose, list(moved))
    return picture
