"""Where documents wait for a signature: «Signature: ____», a rule with a name under it, an empty cell of a table.

Blanks are runs of underscores or dots, rules, and cells. Words before, in, under or over a blank say what it is for.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from paraph.pdf.structure.pages import Box, transform_box
from paraph.pdf.untrusted.jobs.characters import PageText, around, readable_pages
from paraph.pdf.untrusted.jobs.rulings import Line, rulings
from paraph.pdf.untrusted.jobs.signature_words import SIGNED_HERE, asks, asks_otherwise, is_name
from paraph.pdf.untrusted.jobs.text_runs import TextRun, text_runs
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

_BLANK = re.compile(r"(?:_\s?){6,}|(?:\.\s?){12,}|(?:…\s?){4,}")
_WIDTHS = (60.0, 520.0)  # points of a blank
_BESIDE = 30.0  # points from the end of a label to the blank after it
_TABBED = 160.0  # the same, where blanks stand under each other
_BELOW = 18.0  # points from a blank to the label under it
_ABOVE = 95.0  # points from a blank to the label over its room
_IN_ROW = 250.0  # points from the label of a row to a cell of it
_HEADED = 200.0  # points from the head of a column to a cell of it
_ROWS = 3  # that belong to a label, each next to the one before it
_INSIDE = 2.0  # points from the borders of a cell
_THIN = 0.5  # points: a floor has an extent
_THICKEST = 3.0
_LEAST_ROOM = 8.0  # points over a blank
_PARTY_ROOM = 20.0  # points over one that is told by a party's name alone
_MOST_ROOM = 120.0
_STAMP = 200.0  # points of a blank that have to be free
_MOST_LINES = 200  # that wait for a signature, and as many other blanks
_MOST_CHARACTERS = 200_000  # of the pages that are looked at; two seconds
_LONGEST = 100  # characters of a label
_NAMED = 300.0  # points of a blank under which a name stands
_SENTENCE = 60  # characters: what is longer and stands over a blank is no label

Row = list["_Words"]


@dataclass(frozen=True)
class _Words:
    """Words that stand together, with the box around them."""

    text: str
    box: Box


@dataclass(frozen=True)
class _Blank:
    """``floor``: its ink, on which is signed; ``before`` and ``after``: the words beside it on its line."""

    floor: Box
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class _Found:
    """A blank with what is told of it, each word of it in ``about``; ``asked`` as of ``signature_words.asks``."""

    label: str
    about: str
    asked: int
    page: int
    floor: Box
    room: float

    @property
    def in_order(self) -> tuple[float, ...]:
        """By page, from top to bottom, and from left to right what stands side by side."""
        return self.page, -round(self.floor[1] / 20), self.floor[0]


def list_signature_lines(file: UntrustedFile) -> JobAnswer:
    """Return ``{"lines": [[label, page_number, left, bottom, right, top, room, about, is_for_signature], …]}`` in
    reading order, those for signatures first. Pages that speak of signing are looked at first, the others as far as
    the time goes."""
    found: list[_Found] = []
    left = _MOST_CHARACTERS
    for speaks in (True, False):
        for page in readable_pages(file):
            if left >= 0 and bool(SIGNED_HERE.search(page.quick())) is speaks:
                left -= page.count
                found += _of_page(page, speaks=speaks)
    found.sort(key=lambda each: each.in_order)
    first = next((each.page for each in found if each.asked == 2), 0)
    # before the first signature, names of parties stand at blanks that are filled in
    asked = [each for each in found if each.asked == 2 or (each.asked and each.page >= first)][:_MOST_LINES]
    others = [each for each in found if each not in asked][:_MOST_LINES]
    return {"lines": [*(_told(each, True) for each in asked), *(_told(each, False) for each in others)]}, b""


def _told(each: _Found, is_for_signature: bool) -> list[str | float | bool]:
    told: list[str | float | bool] = [each.label[:_LONGEST], each.page, *each.floor]
    return [*told, round(each.room, 2), each.about[: 2 * _LONGEST], is_for_signature]


def _of_page(page: PageText, *, speaks: bool) -> Iterator[_Found]:
    drawn = rulings(page)
    if not drawn.across and not _BLANK.search(page.quick()):
        return
    runs = list(text_runs(page))
    words = [part for run in runs for part in _words(run)]
    written = [blank for run in runs for blank in _written(page, run)]
    ruled = [part for line in drawn.across if not drawn.is_of_table(line) for part in _parts(line, words)]
    blanks = [*written, *(blank for blank in ruled if not any(_same(blank.floor, each.floor) for each in written))]
    floors = [*(blank.floor for blank in blanks), *((line.start, line.at, line.end, line.at) for line in drawn.across)]
    for blank in blanks:
        room = min(_room(blank.floor, words, floors), page.geometry.height - blank.floor[1])
        if _seen(blank.floor, page) and room >= _LEAST_ROOM:
            yield _labelled(blank, room, words, floors, page.index + 1, speaks=speaks)
    for cell in drawn.cells():
        if not any(_lies_in(floor, cell) for floor in floors) and (found := _in_cell(cell, words, page.index + 1)):
            yield found


def _words(run: TextRun) -> Iterator[_Words]:
    """Yield the words of the run between its blanks."""
    start = 0
    for first, last in [*(match.span() for match in _BLANK.finditer(run.text)), (len(run.text), 0)]:
        if run.text[start:first].strip():
            yield _Words(run.text[start:first].strip(), around(run.boxes[start:first]))
        start = last


def _written(page: PageText, run: TextRun) -> Iterator[_Blank]:
    matches = list(_BLANK.finditer(run.text))
    ends = [0, *(match.end() for match in matches)]
    starts = [*(match.start() for match in matches), len(run.text)]
    for match, end, start in zip(matches, ends[:-1], starts[1:], strict=True):
        inked = (page.box(index) for index in run.indexes[match.start() : match.end()])
        floor = around([transform_box(page.geometry.to_reader, box) for box in inked if box])
        after = run.text[match.end() : start].strip() if match is matches[-1] else ""
        if _WIDTHS[0] <= floor[2] - floor[0] <= _WIDTHS[1]:
            yield _Blank(floor, run.text[end : match.start()].strip(" :\t"), after)


def _parts(line: Line, words: Sequence[_Words]) -> Iterator[_Blank]:
    """Yield the line, in parts where labels stand side by side under it."""
    labels = next(iter(_rows_under((line.start, line.at, line.end, line.at), words)), [])
    starts = [line.start, *(max(label.box[0] - _INSIDE, line.start) for label in labels[1:]), line.end]
    for start, end in pairwise(starts):
        if _WIDTHS[0] <= end - start <= _WIDTHS[1]:
            yield _Blank((start, line.at - _THIN, end, line.at))


def _same(floor: Box, other: Box) -> bool:
    return abs(floor[1] - other[1]) < _THICKEST and floor[0] < other[2] and other[0] < floor[2]


def _seen(floor: Box, page: PageText) -> bool:
    left, bottom, right, top = floor
    return left >= 0 and bottom >= 0 and right <= page.geometry.width and top <= page.geometry.height


def _lies_in(floor: Box, cell: Box) -> bool:
    return cell[0] < (floor[0] + floor[2]) / 2 < cell[2] and cell[1] + _INSIDE < floor[3] < cell[3] - _INSIDE


def _room(floor: Box, words: Sequence[_Words], floors: Sequence[Box]) -> float:
    """Return how many points over the blank are free; 0 where words stand on it."""
    left, level, right = floor[0], floor[3], min(floor[2], floor[0] + _STAMP)
    inked = [box for box in (*(each.box for each in words), *floors) if box[0] < right and box[2] > left]
    over = [box[1] - level - 1 for box in inked if box[1] > level + 1]
    on_it = any(box[1] <= level + 1 and box[3] > level + _THICKEST + 1 for box in inked)
    return 0 if on_it else min([*over, _MOST_ROOM])


def _labelled(
    blank: _Blank, room: float, words: Sequence[_Words], floors: Sequence[Box], page: int, *, speaks: bool
) -> _Found:
    """Return the blank with the first of the words around it that say what it is for."""
    gap, beside = _words_before(blank.floor, words, floors)
    before = blank.before or (beside if gap <= _BESIDE else "")
    below = [_text(row) for row in _rows_under(blank.floor, words)]
    tabbed = "" if before else beside
    above = [_text(row) for row in _rows_over(blank.floor, room, words)]
    heads = [row for row in above if len(row) <= _SENTENCE and row[-1:] not in ".;,"]
    label, asked = "", 0
    for words_of_it in (before, blank.after, *below, tabbed, *heads):
        asked = asks(words_of_it)
        label = words_of_it if asked else label or words_of_it
        if asked or (asks_otherwise(words_of_it) and words_of_it not in below[1:]):
            break
    if not asked and not before and below and is_name(below[0]) and speaks:
        label, asked = below[0], int(blank.floor[2] - blank.floor[0] <= _NAMED)
    if asked == 1 and (room < _PARTY_ROOM or len(blank.after) > _SENTENCE // 4):
        asked = 0
    about = " / ".join(filter(None, [before, blank.after, *below, tabbed, *heads]))
    return _Found(label, about, asked, page, blank.floor, room)


def _words_before(floor: Box, words: Sequence[_Words], floors: Sequence[Box]) -> tuple[float, str]:
    """Return the nearest words before the blank on its line, how far off they end; none beyond another blank."""
    left, level = floor[0], floor[1]
    on_line = [each for each in words if each.box[0] < left and each.box[1] - 4 <= level <= each.box[3]]
    near = [(left - each.box[2], each) for each in on_line if -2 <= left - each.box[2] <= _TABBED]
    gap, nearest = min(near, key=lambda each: each[0], default=(0.0, None))
    taken = any(abs(each[1] - level) < _THICKEST and left - gap - 2 <= each[0] < left - 2 for each in floors)
    return (gap, nearest.text.strip(" :\t")) if nearest and not taken else (0.0, "")


def _text(row: Row) -> str:
    return " ".join(each.text for each in row).strip(" :\t")


def _rows_under(floor: Box, words: Sequence[_Words]) -> list[Row]:
    """Return the words under the blank, row by row, as long as each is next to the one before."""
    rows: list[Row] = []
    level, reach = floor[1], _BELOW
    while len(rows) < _ROWS:
        near = [
            each
            for each in words
            if each.box[0] < floor[2] and each.box[2] > floor[0] and -4 <= level - each.box[3] <= reach
        ]
        if not near:
            break
        highest = max(near, key=lambda each: each.box[3])
        rows.append(_row_of(highest, near))
        level, reach = highest.box[1], (highest.box[3] - highest.box[1]) / 2
    return rows


def _rows_over(floor: Box, room: float, words: Sequence[_Words]) -> list[Row]:
    """Return the words over the room of the blank, row by row from the lowest."""
    rows: list[Row] = []
    level, reach = floor[3] + room - _INSIDE, _ABOVE - room
    while len(rows) < _ROWS:
        near = [
            each
            for each in words
            if each.box[0] < floor[2] and each.box[2] > floor[0] and 0 <= each.box[1] - level <= reach
        ]
        if not near:
            break
        lowest = min(near, key=lambda each: each.box[1])
        rows.append(_row_of(lowest, near))
        level, reach = lowest.box[3] - _INSIDE, lowest.box[3] - lowest.box[1]
    return rows


def _row_of(one: _Words, near: Sequence[_Words]) -> Row:
    middle = (one.box[1] + one.box[3]) / 2
    return sorted((each for each in near if each.box[1] < middle < each.box[3]), key=lambda each: each.box[0])


def _in_cell(cell: Box, words: Sequence[_Words], page: int) -> _Found | None:
    """Return the widest gap of a cell in which nothing stands but what asks for a signature; or an empty one that such
    words stand beside, over or under."""
    left, bottom, right, top = cell
    inside = sorted((each for each in words if _middle_in(each.box, cell)), key=lambda each: -each.box[1])
    edges = [top, *(edge for each in inside for edge in (each.box[3], each.box[1])), bottom]
    gaps = [(high - low, low) for high, low in zip(edges[::2], edges[1::2], strict=True)]
    room, floor = max(gaps)
    row = [each for each in words if _middle_in(each.box, (left - _IN_ROW, bottom, left, top))]
    head = [each for each in words if _middle_in(each.box, (left, top, right, top + _HEADED))]
    under = [each for each in words if _middle_in(each.box, (left, bottom - _BELOW, right, bottom))]
    beside = [
        *([max(row, key=lambda each: each.box[2]).text] if row else []),
        *([min(head, key=lambda each: each.box[1]).text] if head else []),
        *([max(under, key=lambda each: each.box[3]).text] if under else []),
    ]
    told = [" ".join(each.text for each in inside)] if inside else beside
    asking = [words_of_it.strip(" :\t") for words_of_it in told if asks(words_of_it.strip(" :\t"))]
    otherwise = any(asks_otherwise(words_of_it) for words_of_it in told[: 1 if inside else 2])
    if not asking or otherwise or room - 2 * _INSIDE < _PARTY_ROOM:
        return None
    label = max(asking, key=asks)
    about = " / ".join([*told, *(beside if inside else [])])
    at = (left + _INSIDE, floor + _INSIDE - _THIN, right - _INSIDE, floor + _INSIDE)
    return _Found(label, about, asks(label), page, at, min(room - 2 * _INSIDE, _MOST_ROOM))


def _middle_in(box: Box, cell: Box) -> bool:
    return cell[0] < (box[0] + box[2]) / 2 < cell[2] and cell[1] < (box[1] + box[3]) / 2 < cell[3]
