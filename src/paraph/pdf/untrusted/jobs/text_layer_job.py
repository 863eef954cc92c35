"""The words of a page and their places."""

from collections.abc import Iterator

import pypdfium2

from paraph.pdf.refusal import no_such_page, page_not_shown
from paraph.pdf.structure.pages import Box, PageGeometry, transform_box
from paraph.pdf.untrusted.jobs.page_text.characters import Characters, around
from paraph.pdf.untrusted.jobs.page_text.reading_order import in_reading_order
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile, geometry_of_page
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

_HYPHENS = frozenset("\x02\ufffe\u00ad")  # as PDFium returns those at a line end


def text_layer(file: UntrustedFile, page_number: int) -> JobAnswer:
    """Return ``{"width", "height", "words": [[text, x, y, width, height, line], …]}``."""
    document = file.pdfium()
    if not 1 <= page_number <= len(document):
        raise no_such_page(page_number, len(document))
    try:
        page = document[page_number - 1]
        geometry = geometry_of_page(file, page, page_number - 1)
        with Characters(page) as characters:
            words = [[word, *map(_rounded, _span(box)), line] for word, box, line in _words(characters, geometry)]
    except pypdfium2.PdfiumError as error:
        raise page_not_shown(page_number) from error
    return {"width": geometry.width, "height": geometry.height, "words": words}, b""


def _words(characters: Characters, geometry: PageGeometry) -> Iterator[tuple[str, Box, int]]:
    """Yield the visible words in reading order, each with the number of its line."""
    to_reader = geometry.to_reader
    word, cells, line = "", list[Box](), 0
    for index, character in [*in_reading_order(characters, characters.exact()), (-1, " ")]:
        if character.isspace() or (not character.isprintable() and character not in _HYPHENS):
            seen = _cut(transform_box(to_reader, around(cells)), geometry) if cells else None
            if seen:
                yield word, seen, line
            word, cells = "", []
            line += character == "\n"
        elif cell := characters.cell(index) if character else None:
            word += "-" if character in _HYPHENS else character
            cells.append(cell)


def _cut(box: Box, geometry: PageGeometry) -> Box | None:
    left, bottom = max(box[0], 0.0), max(box[1], 0.0)
    right, top = min(box[2], geometry.width), min(box[3], geometry.height)
    return (left, bottom, right, top) if left < right and bottom < top else None


def _span(box: Box) -> tuple[float, float, float, float]:
    return box[0], box[1], box[2] - box[0], box[3] - box[1]


def _rounded(value: float) -> float:
    return round(value, 2)
