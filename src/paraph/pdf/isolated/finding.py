"""The tag search, inside the sandbox: own matcher over PDFium's characters (``paraph.pdf.find`` says what counts)."""

from collections.abc import Sequence
from typing import Any

import pypdfium2

from paraph.pdf.geometry import Box, PageGeometry
from paraph.pdf.isolated.characters import Characters, lines
from paraph.pdf.isolated.folding import fold, fold_with_places, occurrences
from paraph.pdf.isolated.pages import geometry_of
from paraph.pdf.isolated.source import Source


def find(source: Source, tags: Sequence[str]) -> tuple[dict[str, Any], bytes]:
    """``{"found": {tag: [page_number, left, bottom, right, top]}}``, the box of the tag's last line."""
    document = source.pdfium()
    wanted = {tag: folded for tag in tags if (folded := fold(tag))}
    found: dict[str, Any] = {}
    for index in range(len(document)):
        if not wanted:
            break
        for tag, box in _on_page(source, document, index, wanted).items():
            found[tag] = [index + 1, *box]
            del wanted[tag]
    return {"found": found}, b""


def _on_page(source: Source, document: pypdfium2.PdfDocument, index: int, wanted: dict[str, str]) -> dict[str, Box]:
    try:
        page = document[index]
    except pypdfium2.PdfiumError:
        return {}  # a page that cannot be opened has no text that a reader sees
    try:
        with Characters(page) as characters:
            text = fold(characters.quick())
            here = {tag: folded for tag, folded in wanted.items() if folded in text or not _basic(folded)}
            return _placed(characters, here, geometry_of(source, page, index)) if here else {}
    finally:
        page.close()


def _placed(characters: Characters, wanted: dict[str, str], geometry: PageGeometry) -> dict[str, Box]:
    text, places = fold_with_places(characters.exact())
    placed = {}
    for tag, folded in wanted.items():
        seen = []
        for start in occurrences(folded, text):
            indices = dict.fromkeys(places[start : start + len(folded)])
            if boxes := lines(characters, list(indices), geometry):
                seen.append(boxes)
        if seen:
            placed[tag] = _first_read(seen)[-1]
    return placed


def _first_read(seen: list[list[Box]]) -> list[Box]:
    """The occurrence that starts highest; of those on one line the leftmost."""
    highest = max(seen, key=lambda boxes: boxes[0][3])
    _, bottom, _, top = highest[0]
    beside = [boxes for boxes in seen if min(boxes[0][3], top) - max(boxes[0][1], bottom) > (top - bottom) / 2]
    return min(beside, key=lambda boxes: boxes[0][0])


def _basic(text: str) -> bool:
    return all(character <= "\uffff" for character in text)
