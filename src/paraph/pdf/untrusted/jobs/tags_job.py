"""The search for whatever tags a file has, where nobody has named them: text in double braces."""

import re
from collections.abc import Iterator

import pypdfium2

from paraph.pdf.structure.geometry import Box
from paraph.pdf.untrusted.jobs.page_geometry import geometry_of_page
from paraph.pdf.untrusted.jobs.page_text.characters import Characters, lines
from paraph.pdf.untrusted.jobs.page_text.folding import fold, fold_with_places
from paraph.pdf.untrusted.jobs.page_text.reading_order import in_reading_order
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

_TAG = re.compile(r"\{\{[^{}]{1,100}\}\}")
_BRACES = re.compile(r"[{}]{2}")  # text that runs from right to left may have them turned
_MOST_TAGS = 200


def list_tags(file: UntrustedFile) -> JobAnswer:
    """Return ``{"tags": [[tag, page_number, left, bottom, right, top], …]}``, each tag where it stands first."""
    document = file.pdfium()
    tags: dict[str, list[str | float]] = {}
    for index in range(len(document)):
        for tag, box in _of_page(file, document, index):
            tags.setdefault(tag, [tag, index + 1, *box])
        if len(tags) >= _MOST_TAGS:
            break
    return {"tags": list(tags.values())[:_MOST_TAGS]}, b""


def _of_page(file: UntrustedFile, document: pypdfium2.PdfDocument, index: int) -> Iterator[tuple[str, Box]]:
    """Yield the visible tags of a page with the boxes of their last lines. Most pages are ruled out by one call for
    all their text."""
    try:
        page = document[index]
    except pypdfium2.PdfiumError:
        return  # a page that cannot be opened shows no text
    try:
        with Characters(page) as characters:
            if not _BRACES.search(fold(characters.quick())):
                return
            read = in_reading_order(characters, characters.exact())
            text, places = fold_with_places(character for _, character in read)
            geometry = geometry_of_page(file, page, index)
            for match in _TAG.finditer(text):
                indices = dict.fromkeys(read[place][0] for place in places[match.start() : match.end()])
                boxes = lines(characters, list(indices), geometry)
                if boxes:
                    yield match[0], boxes[-1]
    finally:
        page.close()
