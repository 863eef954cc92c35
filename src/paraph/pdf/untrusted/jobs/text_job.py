"""The words of pages, and the search for tags among them.

:func:`paraph.pdf.untrusted.page_reading.find_tags` defines what counts as found.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from paraph.pdf.structure.pages import Box, around, transform_box
from paraph.pdf.untrusted.folding import fold
from paraph.pdf.untrusted.jobs.characters import PageText, lines, readable_pages
from paraph.pdf.untrusted.jobs.reading_order import in_reading_order, runs_from_right
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile, drawing, require_page
from paraph.pdf.untrusted.jobs.visual_order import (
    fold_with_places,
    may_contain_tag,
    occurrences,
    read_lines,
    search_lines,
)
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

_MOST_SORTED = 100_000  # characters that the second attempt reads; about a second
_TAG = re.compile(r"\{\{[^{}]{1,100}\}\}")
_BRACES = re.compile(r"[{}]{2}")  # text that runs from right to left may have them turned
_MOST_TAGS = 200
_MOST_TEXTS = 500
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ufffe]+")  # PDFium's own signs for what is broken over lines, too
_HYPHENS = frozenset("\x02\ufffe\u00ad")  # as PDFium returns those at a line end


def find(file: UntrustedFile, tags: Sequence[str]) -> JobAnswer:
    """Return ``{"found": {tag: [page_number, left, bottom, right, top]}}`` with the box of the tag's last line.

    Tags are searched in drawing order first; one call for all text rules most pages out. Those that are not found, and
    all right-to-left tags, are searched again by position. A right-to-left tag takes the earlier hit, since its drawing
    order says little. Tags that no reader would see in order are finally searched as stored."""
    wanted = {tag: folded for tag in tags if (folded := fold(tag))}
    texts: dict[int, str] = {}  # the folded text of each page
    drawn: dict[str, Any] = {}
    for page in readable_pages(file) if wanted else ():
        text = texts[page.index] = fold(page.quick())
        missing = {tag: folded for tag, folded in wanted.items() if tag not in drawn}
        here = {tag: folded for tag, folded in missing.items() if folded in text or not _basic(folded)}
        if here:
            text, places = fold_with_places(page.exact())
            drawn |= _placed(page, {tag: _stretches(folded, text, places) for tag, folded in here.items()})
        if len(drawn) == len(wanted):
            break
    turned = {tag: folded for tag, folded in wanted.items() if runs_from_right(folded)}
    missing = {tag: folded for tag, folded in wanted.items() if tag not in drawn}
    seen = _as_seen(file, turned | missing, texts)
    seen = {tag: place for tag, place in seen.items() if tag not in drawn or place[0] <= drawn[tag][0]}
    stored = {tag: folded for tag, folded in turned.items() if tag not in drawn and tag not in seen}
    return {"found": drawn | seen | _as_seen(file, stored, texts, as_stored=True)}, b""


def _as_seen(
    file: UntrustedFile, wanted: dict[str, str], texts: dict[int, str], *, as_stored: bool = False
) -> dict[str, Any]:
    """Search in lines whose characters are sorted by position."""
    found: dict[str, Any] = {}
    left = _MOST_SORTED
    both_ways = any(map(runs_from_right, texts.values()))
    for index, text in texts.items():
        missing = {tag: folded for tag, folded in wanted.items() if tag not in found}
        here = {tag: folded for tag, folded in missing.items() if may_contain_tag(folded, text, both_ways=both_ways)}
        if not here:
            continue
        with PageText(file, index) as page:
            left -= page.count
            if left < 0:
                break
            exact = page.exact()
            search = partial(search_lines, read_lines(page, exact), exact, both_ways=both_ways)
            found |= _placed(page, {tag: search(folded, as_stored=as_stored) for tag, folded in here.items()})
    return found


def _stretches(folded: str, text: str, places: Sequence[int]) -> list[list[int]]:
    """Return the characters of each occurrence of ``folded``."""
    starts = occurrences(folded, text)
    return [list(dict.fromkeys(places[start : start + len(folded)])) for start in starts]


def _placed(page: PageText, searched: dict[str, list[list[int]]]) -> dict[str, list[float]]:
    """Return for each tag page number and last line of its first visible occurrence."""
    placed = {}
    for tag, occurring in searched.items():
        seen = [boxes for indices in occurring if (boxes := lines(page, indices))]
        if seen:
            placed[tag] = [page.index + 1, *_first_read(seen)[-1]]
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
    tags: dict[str, list[str | float]] = {}
    for page in readable_pages(file):
        for tag, _, box in _of_page(page):
            tags.setdefault(tag, [tag, page.index + 1, *box])
        if len(tags) >= _MOST_TAGS:
            break
    return {"tags": list(tags.values())[:_MOST_TAGS]}, b""


def list_texts(file: UntrustedFile, text: str = "") -> JobAnswer:
    """Return ``{"texts": [[verbatim, page_number, left, bottom, right, top], …]}``: every place of the text, by default
    of what stands in double braces."""
    wanted = fold(text)
    texts: list[list[str | float]] = []
    for page in readable_pages(file) if wanted or not text else ():
        here = [(verbatim, box) for _, verbatim, box in _of_page(page, wanted)]
        texts += [[verbatim, page.index + 1, *box] for verbatim, box in _in_rows(here)]
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


def _of_page(page: PageText, wanted: str = "") -> Iterator[tuple[str, str, Box]]:
    """Yield where ``wanted``, a folded text, is visible on a page, by default each tag: as folded, as it stands there,
    and the box of its last line; one call rules most pages out, which lack a letter of it."""
    quick = fold(page.quick())
    if not ((not _basic(wanted) or set(wanted) <= set(quick)) if wanted else _BRACES.search(quick)):
        return
    read = in_reading_order(page, page.exact())
    text, places = fold_with_places(character for _, character in read)
    spans = [match.span() for match in _TAG.finditer(text)]
    if wanted:
        spans = [(start, start + len(wanted)) for start in occurrences(wanted, text)]
    for start, end in spans:
        within = places[start:end]
        boxes = lines(page, list(dict.fromkeys(read[place][0] for place in within)))
        if boxes:
            verbatim = "".join(character for _, character in read[min(within) : max(within) + 1])
            yield text[start:end], _BLANKS.sub(" ", verbatim).strip(), boxes[-1]


def text_layer(file: UntrustedFile, page_number: int) -> JobAnswer:
    """Return ``{"width", "height", "words": [[text, x, y, width, height, line], …]}``."""
    require_page(file.pdfium(), page_number)
    with drawing(page_number), PageText(file, page_number - 1) as page:
        return {"width": page.geometry.width, "height": page.geometry.height, "words": list(_words(page))}, b""


def _words(page: PageText) -> Iterator[list[str | float]]:
    """Yield the visible words in reading order, each with the number of its line."""
    word, cells, line = "", list[Box](), 0
    for index, character in [*in_reading_order(page, page.exact()), (-1, " ")]:
        if character.isspace() or (not character.isprintable() and character not in _HYPHENS):
            if cells:
                left, bottom, right, top = transform_box(page.geometry.to_reader, around(cells))
                left, bottom = max(left, 0.0), max(bottom, 0.0)
                right, top = min(right, page.geometry.width), min(top, page.geometry.height)
                if left < right and bottom < top:
                    yield [word, *(round(each, 2) for each in (left, bottom, right - left, top - bottom)), line]
            word, cells = "", []
            line += character == "\n"
        elif cell := page.cell(index) if character else None:
            word += "-" if character in _HYPHENS else character
            cells.append(cell)
