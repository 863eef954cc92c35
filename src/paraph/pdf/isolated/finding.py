"""The tag search, inside the sandbox: own matcher over PDFium's characters (``paraph.pdf.find`` says what counts)."""

from collections.abc import Sequence
from typing import Any

import pypdfium2

from paraph.pdf.geometry import Box, PageGeometry
from paraph.pdf.isolated.characters import Characters, lines
from paraph.pdf.isolated.folding import fold, fold_with_places, occurrences
from paraph.pdf.isolated.pages import geometry_of
from paraph.pdf.isolated.source import Source
from paraph.pdf.isolated.visual import read_lines, search_line, worth_a_look

_MOST_SORTED = 100_000  # characters that the second attempt looks at; about a second


def find(source: Source, tags: Sequence[str]) -> tuple[dict[str, Any], bytes]:
    """``{"found": {tag: [page_number, left, bottom, right, top]}}``, the box of the tag's last line."""
    wanted = {tag: folded for tag in tags if (folded := fold(tag))}
    found: dict[str, Any] = {}
    if not wanted:
        return {"found": found}, b""
    document = source.pdfium()
    texts: list[str] = []  # of the pages, folded
    for index in range(len(document)):
        for tag, box in _as_drawn(source, document, index, wanted, texts).items():
            found[tag] = [index + 1, *box]
            del wanted[tag]
        if not wanted:
            break
    found |= _as_seen(source, document, wanted, texts) if wanted else {}
    return {"found": found}, b""


def _as_drawn(
    source: Source, document: pypdfium2.PdfDocument, index: int, wanted: dict[str, str], texts: list[str]
) -> dict[str, Box]:
    """First attempt: the text in the order of drawing. Most pages end at the gate, one call for all their text."""
    page = _opened(document, index)
    if page is None:
        texts.append("")
        return {}
    try:
        with Characters(page) as characters:
            texts.append(fold(characters.quick()))
            here = {tag: folded for tag, folded in wanted.items() if folded in texts[-1] or not _basic(folded)}
            if not here:
                return {}
            text, places = fold_with_places(characters.exact())
            geometry = geometry_of(source, page, index)
            searched = {tag: _stretches(folded, text, places) for tag, folded in here.items()}
            return _placed(characters, searched, geometry)
    finally:
        page.close()


def _as_seen(
    source: Source, document: pypdfium2.PdfDocument, wanted: dict[str, str], texts: Sequence[str]
) -> dict[str, Any]:
    """Second attempt, for tags that the first did not find: each line sorted by where its characters stand."""
    found: dict[str, Any] = {}
    left = _MOST_SORTED
    for index, text in enumerate(texts):
        here = {tag: folded for tag, folded in wanted.items() if tag not in found and worth_a_look(folded, text)}
        page = _opened(document, index) if here else None
        if page is None:
            continue
        with Characters(page) as characters:
            left -= characters.count
            if left < 0:
                break
            exact = characters.exact()
            seen = read_lines(characters, exact)
            searched = {
                tag: [part for line in seen for part in search_line(line, exact, folded)]
                for tag, folded in here.items()
            }
            placed = _placed(characters, searched, geometry_of(source, page, index))
            found |= {tag: [index + 1, *box] for tag, box in placed.items()}
        page.close()
    return found


def _opened(document: pypdfium2.PdfDocument, index: int) -> pypdfium2.PdfPage | None:
    try:
        return document[index]
    except pypdfium2.PdfiumError:
        return None  # a page that cannot be opened has no text that a reader sees


def _stretches(folded: str, text: str, places: Sequence[int]) -> list[list[int]]:
    """The characters of each occurrence of ``folded``."""
    starts = occurrences(folded, text)
    return [list(dict.fromkeys(places[start : start + len(folded)])) for start in starts]


def _placed(characters: Characters, searched: dict[str, list[list[int]]], geometry: PageGeometry) -> dict[str, Box]:
    """Of each tag the occurrence that is read first: the box of its last line. Only what the reader sees counts."""
    placed = {}
    for tag, occurring in searched.items():
        seen = [boxes for indices in occurring if (boxes := lines(characters, indices, geometry))]
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
