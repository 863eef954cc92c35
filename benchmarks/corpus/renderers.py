"""Two renderers that know nothing of each other: PDFium with its forms, and poppler."""

import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Protocol

import pypdfium2
from PIL import Image

from benchmarks.corpus.programs import run
from paraph.pdf.untrusted.jobs.page_pictures import show_form_fields

PIXELS = 400  # of the longer side
_NO_PAGE = (1, 1)  # what poppler draws of an object that is no page


class Renderer(Protocol):
    """``name`` is what a report calls it."""

    name: str

    def images(self, pdf: bytes, indexes: Sequence[int], *, annotations: bool = True) -> list[Image.Image | None]:
        """Pages, counted from 0, about :data:`PIXELS` large; None for what it cannot show."""


class Pdfium:
    """As a library, in this process."""

    name = "PDFium"

    def images(self, pdf: bytes, indexes: Sequence[int], *, annotations: bool = True) -> list[Image.Image | None]:
        """See :class:`Renderer`."""
        try:
            document = pypdfium2.PdfDocument(pdf)
        except pypdfium2.PdfiumError:
            return [None] * len(indexes)
        try:
            show_form_fields(document)
            return [self._image(document, index, annotations=annotations) for index in indexes]
        finally:
            document.close()

    def _image(self, document: pypdfium2.PdfDocument, index: int, *, annotations: bool) -> Image.Image | None:
        try:
            page = document[index]
            scale = PIXELS / max(*page.get_size(), 1)
            bitmap = page.render(scale=scale, draw_annots=annotations, may_draw_forms=annotations)
            image: Image.Image = bitmap.to_pil().convert("RGB")
            page.close()
        except (pypdfium2.PdfiumError, ValueError, IndexError):
            return None
        return image


class Poppler:
    """As the program pdftoppm. Raises :class:`~benchmarks.corpus.programs.NoAnswer` when it hangs."""

    name = "poppler"

    def images(self, pdf: bytes, indexes: Sequence[int], *, annotations: bool = True) -> list[Image.Image | None]:
        """See :class:`Renderer`."""
        with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
            file.write(pdf)
            file.flush()
            found: list[Image.Image | None] = []
            for run_of_pages in _runs(indexes):
                made = self._run(file.name, run_of_pages, annotations=annotations)
                if len(made) == len(run_of_pages):
                    found += made
                    continue
                for index in run_of_pages:  # which of them is missing?
                    found.append(next(iter(self._run(file.name, [index], annotations=annotations)), None))
            return found

    def _run(self, name: str, indexes: Sequence[int], *, annotations: bool) -> list[Image.Image]:
        options = ["-q", "-cropbox", "-scale-to", str(PIXELS), "-f", str(indexes[0] + 1), "-l", str(indexes[-1] + 1)]
        return list(
            _pictures(run(["pdftoppm", *options, *([] if annotations else ["-hide-annotations"]), name]).stdout)
        )


class Mupdf:
    """As the program mutool."""

    name = "MuPDF"

    def images(self, pdf: bytes, indexes: Sequence[int], *, annotations: bool = True) -> list[Image.Image | None]:
        """See :class:`Renderer`; always with annotations."""
        del annotations
        with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
            file.write(pdf)
            file.flush()
            return [self._image(file.name, index) for index in indexes]

    def _image(self, name: str, index: int) -> Image.Image | None:
        size = ["-w", str(PIXELS), "-h", str(PIXELS)]
        command = ["mutool", "draw", "-q", "-F", "ppm", *size, "-o", "-", name, str(index + 1)]
        return next(_pictures(run(command).stdout), None)


def _runs(indexes: Sequence[int]) -> list[list[int]]:
    """Neighbours together: starting the program costs more than drawing a page."""
    groups = groupby(enumerate(indexes), key=lambda item: item[1] - item[0])
    return [[index for _, index in group] for _, group in groups]


def _pictures(data: bytes) -> Iterator[Image.Image]:
    """Of PPM files one behind the other, each "P6", width and height, 255, pixels."""
    position = 0
    while data[position : position + 3] == b"P6\n":
        size, end = data.find(b"\n", position + 3), data.find(b"\n", data.find(b"\n", position + 3) + 1)
        width, height = (int(number) for number in data[position + 3 : size].split())
        position = end + 1 + 3 * width * height
        if position > len(data):
            return
        yield Image.frombytes("RGB", (width, height), data[end + 1 : position])
