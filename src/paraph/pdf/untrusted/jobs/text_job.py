"""The words of pages, which of them stamps cover, and the search for tags among them.

:func:`paraph.pdf.untrusted.page_reading.find_tags` defines what counts as found. Tags are searched in drawing order
first, then by position: producers draw a line font by font, and right-to-left text in various orders, with or without
mirrored brackets. Sorting by position undoes all of that, and costs more. In right-to-left text, bracket direction and
vowel signs are ignored, since producers place them differently.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby, product
from typing import Any

from paraph.pdf.structure.pages import Box, around, transform_box
from paraph.pdf.untrusted.folding import fold
from paraph.pdf.untrusted.jobs.characters import (
    Baseline,
    Characters,
    PageText,
    TextRun,
    lines,
    readable_pages,
    same_place,
    text_runs,
)
from paraph.pdf.untrusted.jobs.page_pictures import show_form_fields
from paraph.pdf.untrusted.jobs.reading_order import MIRRORED, from_left, in_reading_order, runs_from_right
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile, drawing, require_page
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

_SAME_LINE = 0.3  # relative to the text size, across the writing direction
_SHORTEST_PIECE = 3
Line = list[list[int]]  # glyphs from left to right, each with its characters


def fold_with_places(characters: Iterable[str]) -> tuple[str, list[int]]:
    """Return the folded text of single characters, and for each of its characters the index it came from."""
    folded: list[str] = []
    places: list[int] = []
    for index, character in enumerate(characters):
        for part in _fold_character(character):
            position = len(folded)
            mark = unicodedata.combining(part) if part > "\u02ff" else 0
            while mark and position and unicodedata.combining(folded[position - 1]) > mark:
                position -= 1  # canonical order, whatever the order of drawing
            folded.insert(position, part)
            places.insert(position, index)
    return "".join(folded), places


_fold_character = functools.lru_cache(4096)(fold)  # a page has few different characters


def occurrences(needle: str, text: str) -> list[int]:
    """Return where ``needle`` starts in ``text``, both folded, except where an accent follows its last letter."""
    starts = []
    start = text.find(needle)
    while start >= 0:
        after = text[start + len(needle) : start + len(needle) + 1]
        if not (after and unicodedata.combining(after)):
            starts.append(start)
        start = text.find(needle, start + 1)
    return starts


def may_contain_tag(folded: str, text: str, *, both_ways: bool) -> bool:
    """Return whether pieces of the tag stand on the page, so that sorting its characters may bring them together.
    ``both_ways``: some text of the document runs from right to left."""
    if both_ways:
        return set(_alike(folded)) <= set(_alike(text))
    pieces = [folded[start : start + _SHORTEST_PIECE] for start in range(len(folded) - _SHORTEST_PIECE + 1)]
    return any(piece in text for piece in pieces) and set(folded) <= set(text)


def read_lines(characters: Characters, exact: Sequence[str]) -> list[Line]:
    """Return the lines of a page, each from left to right in its own writing direction."""
    placed = [(index, characters.baseline(index)) for index, text in enumerate(exact) if text.strip()]
    placed.sort(key=lambda item: (round(item[1].angle, 1), item[1].across))
    found: list[list[tuple[int, Baseline]]] = []
    for index, here in placed:
        last = found[-1][-1][1] if found else None
        if last and abs(last.angle - here.angle) < 0.1 and abs(last.across - here.across) < _SAME_LINE * here.size:
            found[-1].append((index, here))
        else:
            found.append([(index, here)])
    return [_glyphs(sorted(line, key=lambda item: item[1].along)) for line in found]


def search_lines(
    lines: Sequence[Line], exact: Sequence[str], folded: str, *, both_ways: bool, as_stored: bool = False
) -> list[list[int]]:
    """Return the characters of each occurrence of the tag on a line. ``both_ways`` as for :func:`may_contain_tag`:
    brackets of a Latin tag in a Hebrew paragraph are mirrored too. ``as_stored``: search for the tag as
    programs that know no bidirectional text draw it, its first letter leftmost."""
    if not both_ways:
        return [hit for line in lines for hit in _search([i for glyph in line for i in glyph], exact, [folded])]
    ways = [_alike(folded)] if as_stored else _ways(folded)
    return [hit for line in lines for hit in _search_both_ways(line, exact, ways)]


def _glyphs(line: Sequence[tuple[int, Baseline]]) -> Line:
    glyphs: Line = []
    for position, (index, here) in enumerate(line):
        last = line[position - 1][1] if position else None
        if last and same_place(last, here):
            glyphs[-1].append(index)
        else:
            glyphs.append([index])
    return glyphs


def _search_both_ways(line: Line, exact: Sequence[str], ways: Sequence[str]) -> list[list[int]]:
    order = [index for glyph in line for index in glyph]
    turned = [index for glyph in line for index in reversed(glyph)]  # the letters of a ligature come in either order
    found = _search(order, exact, ways, alike=True)
    if turned != order:
        found += [hit for hit in _search(turned, exact, ways, alike=True) if hit not in found]
    return found


@functools.lru_cache(256)
def _ways(folded: str) -> list[str]:
    """Return the visual orders of the tag, in paragraphs of either direction and beside words of either."""
    ways = (
        from_left(folded, base=base, before=before, after=after, pair_brackets=pair_brackets)
        for base, before, after, pair_brackets in product("LR", "LR", "LR", (True, False))
    )
    return list(dict.fromkeys(_alike("".join(folded[index] for index in way)) for way in ways if way))


def _search(order: Sequence[int], exact: Sequence[str], ways: Sequence[str], *, alike: bool = False) -> list[list[int]]:
    text, places = fold_with_places(exact[index] for index in order)
    if alike:
        places = [place for place, character in zip(places, text, strict=True) if _alike(character)]
        text = _alike(text)
    stretches = [places[start : start + len(way)] for way in ways for start in occurrences(way, text)]
    return [[order[place] for place in sorted(set(stretch))] for stretch in stretches]


def _alike(text: str) -> str:
    """Turn all brackets one way and remove combining signs."""
    text = text.translate(MIRRORED)
    return text if text.isascii() else "".join(letter for letter in text if not unicodedata.combining(letter))


_MOST_SORTED = 100_000  # characters that the second attempt reads; about a second
_TAG = re.compile(r"\{\{[^{}]{1,100}\}\}")
_BRACES = re.compile(r"[{}]{2}")  # text that runs from right to left may have them turned
_MOST_TAGS = 200
_MOST_TEXTS = 500
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ufffe]+")  # PDFium's own signs for words broken over lines, too
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
    """Return for each tag the page number and the last line of its first visible occurrence."""
    placed = {}
    for tag, occurring in searched.items():
        if seen := [boxes for indices in occurring if (boxes := lines(page, indices))]:
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
    """Yield the texts from top to bottom, those on one line from left to right."""
    row: list[tuple[str, Box]] = []
    for each in sorted(found, key=lambda each: -each[1][3]):
        if row and (each[1][1] + each[1][3]) / 2 < row[0][1][1]:
            yield from sorted(row, key=lambda each: each[1][0])
            row = []
        row.append(each)
    yield from sorted(row, key=lambda each: each[1][0])


def _of_page(page: PageText, wanted: str = "") -> Iterator[tuple[str, str, Box]]:
    """Yield each visible occurrence of the folded text ``wanted`` on a page, by default of each tag: as folded, as it
    stands there, and the box of its last line. One call rules out most pages, which lack a letter of it."""
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
        if boxes := lines(page, list(dict.fromkeys(read[place][0] for place in within))):
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


Place = tuple[int, float, float, float, float]
"""Page number from 1, then left, bottom, width and height in points of reader space."""

_WITHIN = 2.0  # points by which a stamp may touch words
_FEWEST = 3  # letters that count as covered
_LONGEST = 40  # characters of covered words that are reported of each line
_MOST_PARTS = 3  # lines of which words are reported
_NO_WORDS = re.compile(r"\[\[.*?\]\]|\{\{.*?\}\}|[_.…\s]+")  # tags, and blanks to be signed on


def find_covered_words(file: UntrustedFile, places: Sequence[Place]) -> JobAnswer:
    """Return ``{"covered": [["words", …], …]}``: the whole words under each of the places, by lines."""
    document = file.pdfium()
    show_form_fields(document)
    covered: list[list[str]] = [[] for _ in places]
    in_order = sorted(range(len(places)), key=lambda index: places[index][0])
    for number, indexes in groupby(in_order, key=lambda index: places[index][0]):
        require_page(document, number)
        with drawing(number), PageText(file, number - 1) as page:
            runs = list(text_runs(page))
        # with spaces in place of what is no word
        words = [(_NO_WORDS.sub(lambda match: " " * len(match.group()), run.text), run) for run in runs]
        for index in indexes:
            covered[index] = _covered(words, places[index])
    return {"covered": covered}, b""


def _covered(runs: Sequence[tuple[str, TextRun]], place: Place) -> list[str]:
    """Return the covered words, with an ellipsis where their line goes on; none for a few letters at an edge."""
    _, x, y, width, height = place
    inner = (x + _WITHIN, y + _WITHIN, x + width - _WITHIN, y + height - _WITHIN)
    told: list[str] = []
    letters, alone = 0, False
    for text, run in runs:
        under = [at for at, box in enumerate(run.boxes) if text[at].isalnum() and _overlap(inner, box)]
        letters += len(under)
        if under and alone and len(text) == 1:  # of a line that does not run across, each letter is a run
            told[-1] += text
        elif under and len(told) < _MOST_PARTS:
            told.append(_whole_words(text, run.text, under[0], under[-1]))
        alone = bool(under) and len(text) == 1
    return told if letters >= _FEWEST else []


def _whole_words(text: str, line: str, first: int, last: int) -> str:
    start = text.rfind(" ", 0, first) + 1
    end = text.find(" ", last)
    end = len(text) if end < 0 else end
    words = text[start:end]
    if len(words) > _LONGEST:
        words, end = words[:_LONGEST].rpartition(" ")[0] or words[:_LONGEST], start
    return f"{'… ' * bool(line[:start].strip())}{words}{' …' * bool(line[end:].strip())}"


def _overlap(one: Box, other: Box) -> bool:
    """Return whether ``one`` contains the middle of ``other`` horizontally, and any part of it vertically."""
    middle = (other[0] + other[2]) / 2
    return one[0] < middle < one[2] and one[1] < other[3] and other[1] < one[3]
