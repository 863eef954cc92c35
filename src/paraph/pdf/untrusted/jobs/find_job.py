"""The search for tags in PDFium's characters. :mod:`paraph.pdf.untrusted.find` defines what counts as found."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pypdfium2

from paraph.pdf.structure.pages import Box, PageGeometry
from paraph.pdf.untrusted.folding import fold
from paraph.pdf.untrusted.jobs.page_text.characters import Characters, lines
from paraph.pdf.untrusted.jobs.page_text.reading_order import in_reading_order
from paraph.pdf.untrusted.jobs.page_text.visual_order import (
    fold_with_places,
    may_contain_tag,
    occurrences,
    read_lines,
    runs_from_right,
    search_lines,
)
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile, geometry_of_page
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

_MOST_SORTED = 100_000  # characters that the second attempt reads; about a second
_TAG = re.compile(r"\{\{[^{}]{1,100}\}\}")
_BRACES = re.compile(r"[{}]{2}")  # text that runs from right to left may have them turned
_MOST_TAGS = 200
_MOST_TEXTS = 500
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ufffe]+")  # PDFium's own signs for what is broken over lines, too


def find(file: UntrustedFile, tags: Sequence[str]) -> JobAnswer:
    """Return ``{"found": {tag: [page_number, left, bottom, right, top]}}`` with the box of the tag's last line."""
    wanted = {tag: folded for tag in tags if (folded := fold(tag))}
    if not wanted:
        return {"found": {}}, b""
    document = file.pdfium()
    texts: list[str] = []  # the folded text of each page
    drawn: dict[str, Any] = {}
    for index in range(len(document)):
        missing = {tag: folded for tag, folded in wanted.items() if tag not in drawn}
        if not missing:
            break
        boxes = _as_drawn(file, document, index, missing, texts)
        drawn |= {tag: [index + 1, *box] for tag, box in boxes.items()}
    return {"found": drawn | _sorted(file, document, wanted, texts, drawn)}, b""


def _sorted(
    file: UntrustedFile,
    document: pypdfium2.PdfDocument,
    wanted: dict[str, str],
    texts: Sequence[str],
    drawn: dict[str, Any],
) -> dict[str, Any]:
    """Search again by position, for tags not found in drawing order and for all right-to-left tags. A right-to-left
    tag takes the earlier hit, since its drawing order says little. Tags that no reader would see in order are
    finally searched as stored."""
    turned = {tag: folded for tag, folded in wanted.items() if runs_from_right(folded)}
    missing = {tag: folded for tag, folded in wanted.items() if tag not in drawn}
    seen = _as_seen(file, document, turned | missing, texts)
    seen = {tag: place for tag, place in seen.items() if tag not in drawn or place[0] <= drawn[tag][0]}
    stored = {tag: folded for tag, folded in turned.items() if tag not in drawn and tag not in seen}
    return seen | _as_seen(file, document, stored, texts, as_stored=True)


def _as_drawn(
    file: UntrustedFile, document: pypdfium2.PdfDocument, index: int, wanted: dict[str, str], texts: list[str]
) -> dict[str, Box]:
    """Search in drawing order. Most pages are ruled out by one call for all their text."""
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
            geometry = geometry_of_page(file, page, index)
            searched = {tag: _stretches(folded, text, places) for tag, folded in here.items()}
            return _placed(characters, searched, geometry)
    finally:
        page.close()


def _as_seen(
    file: UntrustedFile,
    document: pypdfium2.PdfDocument,
    wanted: dict[str, str],
    texts: Sequence[str],
    *,
    as_stored: bool = False,
) -> dict[str, Any]:
    """Search in lines whose characters are sorted by position."""
    found: dict[str, Any] = {}
    left = _MOST_SORTED
    both_ways = any(map(runs_from_right, texts))
    for index, text in enumerate(texts):
        missing = {tag: folded for tag, folded in wanted.items() if tag not in found}
        here = {tag: folded for tag, folded in missing.items() if may_contain_tag(folded, text, both_ways=both_ways)}
        page = _opened(document, index) if here else None
        if page is None:
            continue
        with Characters(page) as characters:
            left -= characters.count
            if left < 0:
                break
            exact = characters.exact()
            search = partial(search_lines, read_lines(characters, exact), exact, both_ways=both_ways)
            searched = {tag: search(folded, as_stored=as_stored) for tag, folded in here.items()}
            placed = _placed(characters, searched, geometry_of_page(file, page, index))
            found |= {tag: [index + 1, *box] for tag, box in placed.items()}
        page.close()
    return found


def _opened(document: pypdfium2.PdfDocument, index: int) -> pypdfium2.PdfPage | None:
    try:
        return document[index]
    except pypdfium2.PdfiumError:
        return None  # a page that cannot be opened shows no text


def _stretches(folded: str, text: str, places: Sequence[int]) -> list[list[int]]:
    """Return the characters of each occurrence of ``folded``."""
    starts = occurrences(folded, text)
    return [list(dict.fromkeys(places[start : start + len(folded)])) for start in starts]


def _placed(characters: Characters, searched: dict[str, list[list[int]]], geometry: PageGeometry) -> dict[str, Box]:
    """Return for each tag the last line of its first visible occurrence."""
    placed = {}
    for tag, occurring in searched.items():
        seen = [boxes for indices in occurring if (boxes := lines(characters, indices, geometry))]
        if seen:
            placed[tag] = _first_read(seen)[-1]
    return placed


def _first_read(seen: list[list[Box]]) -> list[Box]:
    """Return the occurrence that starts highest; of those on one line, the leftmost."""
    highest = max(seen, key=lambda boxes: boxes[0][3])
    _, bottom, _, top = highest[0]
    beside = [boxes for boxes in seen if min(boxes[0][3], top) - max(boxes[0][1], bottom) > (top - bottom) / 2]
    return min(beside, key=lambda boxes: boxes[0][0])


def _basic(text: str) -> bool:
    return all(character <= "\uffff" for character in text)


def list_tags(file: UntrustedFile) -> JobAnswer:
    """Return ``{"tags": [[tag, page_number, left, bottom, right, top], …]}``, each tag where it stands first."""
    document = file.pdfium()
    tags: dict[str, list[str | float]] = {}
    for index in range(len(document)):
        for tag, _, box in _of_page(file, document, index):
            tags.setdefault(tag, [tag, index + 1, *box])
        if len(tags) >= _MOST_TAGS:
            break
    return {"tags": list(tags.values())[:_MOST_TAGS]}, b""


def list_texts(file: UntrustedFile, text: str = "") -> JobAnswer:
    """Return ``{"texts": [[verbatim, page_number, left, bottom, right, top], …]}``: every place of the text, by default
    of what stands in double braces."""
    document, wanted = file.pdfium(), fold(text)
    texts: list[list[str | float]] = []
    for index in range(len(document)) if wanted or not text else ():
        here = [(verbatim, box) for _, verbatim, box in _of_page(file, document, index, wanted)]
        texts += [[verbatim, index + 1, *box] for verbatim, box in _in_rows(here)]
        if len(texts) >= _MOST_TEXTS:
            break
    return {"texts": texts[:_MOST_TEXTS]}, b""


def _in_rows(found: list[tuple[str, Box]]) -> Iterator[tuple[str, Box]]:
    """Yield from top to bottom, and from left to right what stands on one line."""
    row: list[tuple[str, Box]] = []
    for each in sorted(found, key=lambda each: -each[1][3]):
        middle = (each[1][1] + each[1][3]) / 2
        if row and middle < row[0][1][1]:
            yield from sorted(row, key=lambda each: each[1][0])
            row = []
        row.append(each)
    yield from sorted(row, key=lambda each: each[1][0])


def _of_page(
    file: UntrustedFile, document: pypdfium2.PdfDocument, index: int, wanted: str = ""
) -> Iterator[tuple[str, str, Box]]:
    """Yield where ``wanted``, a folded text, is visible on a page, by default each tag: as folded, as it stands there,
    and the box of its last line; one call rules most pages out."""
    try:
        page = document[index]
    except pypdfium2.PdfiumError:
        return  # a page that cannot be opened shows no text
    try:
        with Characters(page) as characters:
            quick = fold(characters.quick())
            if not (_may_have(wanted, quick) if wanted else _BRACES.search(quick)):
                return
            read = in_reading_order(characters, characters.exact())
            text, places = fold_with_places(character for _, character in read)
            geometry = geometry_of_page(file, page, index)
            for start, end in _spans(wanted, text):
                within = places[start:end]
                indices = dict.fromkeys(read[place][0] for place in within)
                boxes = lines(characters, list(indices), geometry)
                if boxes:
                    verbatim = "".join(character for _, character in read[min(within) : max(within) + 1])
                    yield text[start:end], _BLANKS.sub(" ", verbatim).strip(), boxes[-1]
    finally:
        page.close()


def _may_have(wanted: str, quick: str) -> bool:
    """Return whether all its letters are there, in whatever order they were drawn."""
    return not _basic(wanted) or set(wanted) <= set(quick)


def _spans(wanted: str, text: str) -> list[tuple[int, int]]:
    if wanted:
        return [(start, start + len(wanted)) for start in occurrences(wanted, text)]
    return [match.span() for match in _TAG.finditer(text)]
