"""What PDFium shows of a page, in user space: where letters stand, and whether there is anything at a place."""

from collections.abc import Iterator
from functools import cached_property

import pypdfium2
from PIL import Image
from pypdfium2 import raw

from paraph.pdf.structure.geometry import Box, PageGeometry, inverse, transform_box
from paraph.pdf.untrusted.jobs.page_text.characters import Characters

_PIXELS = 1600  # of the longer side of the picture in which things are looked for
_FAINT = 24  # of 255: noise of a scan, and of compression
_MOST_OBJECTS = 20_000  # of a page, among which pictures are looked for


class ShownPage:
    """A page of a document that PDFium has opened. A context manager."""

    def __init__(self, document: pypdfium2.PdfDocument, index: int, geometry: PageGeometry) -> None:
        self._page = document[index]
        self._geometry = geometry

    def __enter__(self) -> "ShownPage":
        return self

    def __exit__(self, *error: object) -> None:
        self._page.close()

    def covered_letter(self, area: Box) -> float:
        """Return how much of a letter lies within ``area``, the most covered one: 0 to 1."""
        return max((_share(letter, area) for letter in self._letters), default=0.0)

    def has_picture_in(self, area: Box) -> bool:
        """Whether there is anything to see within ``area`` that may be text and has no letters: in an image, or on a
        page without letters anything at all."""
        if self._letters and not any(_share(image, area) or _share(area, image) for image in self._images):
            return False
        return self._varies(area)

    @cached_property
    def _letters(self) -> list[Box]:
        with Characters(self._page) as characters:
            read = enumerate(characters.exact())
            boxes = [characters.box(index) for index, character in read if character and not character.isspace()]
        return [box for box in boxes if box]

    @cached_property
    def _images(self) -> list[Box]:
        return list(self._bounds_of_images())

    def _bounds_of_images(self) -> Iterator[Box]:
        kinds = [raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING]
        for count, drawn in enumerate(self._page.get_objects(filter=kinds, max_depth=15)):
            if count >= _MOST_OBJECTS:
                yield self._geometry.visible
                return
            try:
                yield drawn.get_bounds()
            except pypdfium2.PdfiumError:
                yield self._geometry.visible

    def _varies(self, area: Box) -> bool:
        box = self._in_pixels(area)
        low, high = self._picture.crop(box).getextrema() if box else (0, 0)
        return bool(high - low > _FAINT)  # type: ignore[operator]  # of one band

    @cached_property
    def _picture(self) -> Image.Image:
        """Without annotations."""
        scale = _PIXELS / max(*self._page.get_size(), 1.0)
        bitmap = self._page.render(scale=scale, draw_annots=False, may_draw_forms=False)
        image: Image.Image = bitmap.to_pil().convert("L")
        return image

    def _in_pixels(self, area: Box) -> tuple[int, int, int, int] | None:
        width, height = self._picture.size
        left, bottom, right, top = transform_box(inverse(self._geometry.to_user), area)
        across, down = width / self._geometry.width, height / self._geometry.height
        box = (
            max(int(left * across), 0),
            max(int((self._geometry.height - top) * down), 0),
            min(int(right * across) + 1, width),
            min(int((self._geometry.height - bottom) * down) + 1, height),
        )
        return box if box[0] < box[2] and box[1] < box[3] else None


def _share(one: Box, other: Box) -> float:
    """Return which part of ``one`` lies within ``other``."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    area = (one[2] - one[0]) * (one[3] - one[1])
    return width * height / area if width > 0 and height > 0 and area > 0 else 0.0
