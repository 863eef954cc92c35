"""Where documents wait for a signature: «Signature: ____», a rule with a name under it, an empty cell of a table.

Blanks are runs of underscores or dots, rules, and cells. Words before, in, under or over a blank say what it is for.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from paraph.pdf.structure.pages import Box, transform_box
from paraph.pdf.untrusted.jobs.characters import PageText, around, readable_pages
from paraph.pdf.untrusted.jobs.rulings import Line, rulings
from paraph.pdf.untrusted.jobs.signature_words import SIGNED_HERE, asks, asks_otherwise, is_name
from paraph.pdf.untrusted.jobs.text_runs import text_runs
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

_BLANK = re.compile(r"((?:_\s?){6,}|(?:\.\s?){12,}|(?:…\s?){4,})")
_ENDS = " :\t"  # of labels
_WIDTHS = (60.0, 520.0)  # points of a blank
_BESIDE = 30.0  # points from the end of a label to the blank after it
_TABBED = 160.0  # the same, where blanks stand under each other
_BELOW = 18.0  # points from a blank to the label under it
_ABOVE = 95.0  # points from a blank to the label over its room
_IN_ROW = 250.0  # points from the label of a row to a cell of it
_HEADED = 200.0  # points from the head of a column to a cell of it
_ROWS = 3  # that belong to a label, each next to the one before it
_INTO = 4.0  # points by which letters reach into the next row or under a blank, and blanks are apart
_INSIDE = 2.0  # points from the borders of a cell
_THIN = 0.5  # points: a floor has an extent
_LEAST_ROOM = 8.0  # points over a blank
_PARTY_ROOM = 20.0  # points over one that is told by a party's name alone
_MOST_ROOM = 120.0
_STAMP = 200.0  # points of a blank that have to be free
_MOST_LINES = 200  # that wait for a signature, and as many other blanks
_MOST_CHARACTERS = 200_000  # of the pages that are looked at; two seconds
_LONGEST = 100  # characters of a label
_NAMED = 300.0  # points of a blank under which a name stands
_SENTENCE = 60  # characters: what is longer and stands over a blank is no label
_GOES_ON = 15  # characters after a blank that is one within a sentence

Found = list[Any]  # a row of the answer, with what `asks` says at its end


class _Words(NamedTuple):
    """Words that stand together, with the box around them."""

    text: str
    box: Box


class _Blank(NamedTuple):
    """``floor``: its ink, on which is signed; ``before`` and ``after``: the words beside it on its line."""

    floor: Box
    before: str = ""
    after: str = ""


def list_signature_lines(file: UntrustedFile) -> JobAnswer:
    """Return ``{"lines": [[label, page_number, left, bottom, right, top, room, about, is_for_signature], …]}`` in
    reading order, those for signatures first. Pages that speak of signing are looked at first, the others as far as
    the time goes."""
    found: list[Found] = []
    left = _MOST_CHARACTERS
    for speaks in (True, False):
        for page in readable_pages(file):
            if left >= 0 and bool(SIGNED_HERE.search(page.quick())) is speaks:
                left -= page.count
                found += _of_page(page, speaks=speaks)
    found.sort(key=lambda each: (each[1], -round(each[3] / 20), each[2]))
    first = next((each[1] for each in found if each[-1] == 2), 0)
    for each in found:  # before the first signature, blanks with a party's name are filled in
        each[-1] = each[-1] == 2 or (each[-1] == 1 and each[1] >= first)
    by_use = ([each for each in found if each[-1] is wanted][:_MOST_LINES] for wanted in (True, False))
    return {"lines": [each for some in by_use for each in some]}, b""


def _of_page(page: PageText, *, speaks: bool) -> Iterator[Found]:
    drawn = rulings(page)
    if not drawn.across and not _BLANK.search(page.quick()):
        return
    words, blanks = _read(page)
    ruled = [part for line in drawn.across if not drawn.is_of_table(line) for part in _parts(line, words)]
    blanks += [part for part in ruled if not any(_same(part.floor, each.floor) for each in blanks)]
    floors = [*(blank.floor for blank in blanks), *((start, at, end, at) for start, end, at in drawn.across)]
    for blank in blanks:
        left, bottom, right, top = blank.floor
        room = min(_room(blank.floor, words, floors), page.geometry.height - top)
        if min(left, bottom) >= 0 and right <= page.geometry.width and room >= _LEAST_ROOM:
            label, about, asked = _labelled(blank, room, words, floors, speaks=speaks)
            yield [label[:_LONGEST], page.index + 1, *blank.floor, round(room, 2), about[: 2 * _LONGEST], asked]
    for cell in drawn.cells():
        if not any(_middle_in(floor, cell) for floor in floors):
            yield from _in_cell(cell, words, page.index + 1)


def _read(page: PageText) -> tuple[list[_Words], list[_Blank]]:
    """Return the words of the page and the blanks among them."""
    words: list[_Words] = []
    blanks: list[_Blank] = []
    for run in text_runs(page):
        parts, start = _BLANK.split(run.text), 0
        for index, part in enumerate(parts):
            end = start + len(part)
            if index % 2:
                inked = (page.box(each) for each in run.indexes[start:end])
                floor = around([transform_box(page.geometry.to_reader, box) for box in inked if box])
                after = parts[-1].strip() if index == len(parts) - 2 else ""
                blanks.append(_Blank(floor, parts[index - 1].strip(_ENDS), after))
            elif part.strip():
                words.append(_Words(part.strip(_ENDS), around(run.boxes[start:end])))
            start = end
    return words, [each for each in blanks if _WIDTHS[0] <= each.floor[2] - each.floor[0] <= _WIDTHS[1]]


def _parts(line: Line, words: Sequence[_Words]) -> Iterator[_Blank]:
    """Yield the line, in parts where labels stand side by side under it."""
    labels = next(iter(_rows((line.start, line.at, line.end, line.at), _BELOW, words, up=False)), [])
    starts = [line.start, *(max(label.box[0] - _INSIDE, line.start) for label in labels[1:]), line.end]
    for start, end in pairwise(starts):
        if _WIDTHS[0] <= end - start <= _WIDTHS[1]:
            yield _Blank((start, line.at - _THIN, end, line.at))


def _same(floor: Box, other: Box) -> bool:
    return abs(floor[1] - other[1]) < _INTO and floor[0] < other[2] and other[0] < floor[2]


def _room(floor: Box, words: Sequence[_Words], floors: Sequence[Box]) -> float:
    """Return how many points over the blank are free; 0 where words stand on it."""
    left, level, right = floor[0], floor[3] + 1, min(floor[2], floor[0] + _STAMP)
    inked = [box for box in (*(each.box for each in words), *floors) if box[0] < right and box[2] > left]
    on_it = any(box[1] <= level and box[3] > level + _INTO for box in inked)
    return 0 if on_it else min([*(box[1] - level for box in inked if box[1] > level), _MOST_ROOM])


def _labelled(
    blank: _Blank, room: float, words: Sequence[_Words], floors: Sequence[Box], *, speaks: bool
) -> tuple[str, str, int]:
    """Return the first of the words around the blank that say what it is for, all of them, and what they ask."""
    left, level, right, top = blank.floor
    gap, beside = _words_before(blank.floor, words, floors)
    before, tabbed = (beside, "") if blank.before or gap <= _BESIDE else ("", beside)
    before = blank.before or before
    below, above = (
        [" ".join(each.text for each in row) for row in rows]
        for rows in (
            _rows((left, level, right, level), _BELOW, words, up=False),
            _rows((left, top + room, right, top + room), _ABOVE - room, words, up=True),
        )
    )
    heads = [row for row in above if len(row) <= _SENTENCE and row[-1:] not in ".;,"]
    told = [before, blank.after, *below, *([] if before else [tabbed]), *heads]
    label, asked = next(filter(None, told), ""), 0
    for each in told:
        asked = asks(each)
        if asked or (asks_otherwise(each) and each not in below[1:]):
            label = each
            break
    if not asked and not before and below and is_name(below[0]) and speaks:
        label, asked = below[0], int(right - left <= _NAMED)
    if asked == 1 and (room < _PARTY_ROOM or len(blank.after) > _GOES_ON):
        asked = 0
    return label, " / ".join(filter(None, told)), asked


def _words_before(floor: Box, words: Sequence[_Words], floors: Sequence[Box]) -> tuple[float, str]:
    """Return the nearest words before the blank on its line, how far off they end; none beyond another blank."""
    left, level = floor[:2]
    on_line = [each for each in words if each.box[0] < left and each.box[1] - _INTO <= level <= each.box[3]]
    near = [(left - each.box[2], each.text) for each in on_line if -2 <= left - each.box[2] <= _TABBED]
    gap, nearest = min(near, default=(0.0, ""))
    taken = any(abs(each[1] - level) < _INTO and left - gap - 2 <= each[0] < left - 2 for each in floors)
    return (0.0, "") if taken else (gap, nearest)


def _rows(floor: Box, reach: float, words: Sequence[_Words], *, up: bool) -> list[list[_Words]]:
    """Return the words over or under the floor, row by row, as long as each is next to the one before."""
    rows: list[list[_Words]] = []
    level = floor[1]
    beside = [each for each in words if each.box[0] < floor[2] and each.box[2] > floor[0]]
    while len(rows) < _ROWS:
        gaps = [(each.box[1] - level if up else level - each.box[3], each) for each in beside]
        near = [each for each in gaps if -_INTO <= each[0] <= reach]
        if not near:
            break
        low, high = min(near)[1].box[1::2]
        row = [each for _, each in near if low < (each.box[1] + each.box[3]) / 2 < high]
        rows.append(sorted(row, key=lambda each: each.box[0]))
        level, reach = (high if up else low), (high - low) * (1 if up else 0.6)
    return rows


def _in_cell(cell: Box, words: Sequence[_Words], page: int) -> Iterator[Found]:
    """Yield the highest gap of a cell in which nothing stands but what asks for a signature; or an empty one that such
    words stand beside, over or under."""
    left, bottom, right, top = cell
    inside = sorted((each for each in words if _middle_in(each.box, cell)), key=lambda each: -each.box[1])
    edges = [top, *(edge for each in inside for edge in (each.box[3], each.box[1])), bottom]
    room, low = max((high - low, low) for high, low in zip(edges[::2], edges[1::2], strict=True))
    sides = (
        (left - _IN_ROW, bottom, left, top),
        (left, top, right, top + _HEADED),
        (left, bottom - _BELOW, right, bottom),
    )
    beside = [_nearest([each for each in words if _middle_in(each.box, side)], cell) for side in sides]
    told = [" ".join(each.text for each in inside)] if inside else beside
    label, room = max(told, key=asks), min(room - 2 * _INSIDE, _MOST_ROOM)
    if asks(label) and room >= _PARTY_ROOM and not any(map(asks_otherwise, told[:2])):
        floor = (left + _INSIDE, low + _INSIDE - _THIN, right - _INSIDE, low + _INSIDE)
        about = " / ".join(dict.fromkeys(filter(None, [*told, *beside])))
        yield [label[:_LONGEST], page, *floor, room, about[: 2 * _LONGEST], asks(label)]


def _nearest(words: Sequence[_Words], cell: Box) -> str:
    away = {each.text: abs(each.box[0] - cell[0]) + abs(each.box[1] - cell[1]) for each in words}
    return min(away, key=lambda text: away[text], default="")


def _middle_in(box: Box, cell: Box) -> bool:
    return cell[0] < (box[0] + box[2]) / 2 < cell[2] and cell[1] < (box[1] + box[3]) / 2 < cell[3]
