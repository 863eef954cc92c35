"""Where documents wait for a signature: «Signature: ____», a rule with a name under it, an empty cell of a table.

Blanks are runs of underscores or dots, straight lines that are drawn as strokes or as thin bars, and cells between such
lines. Words before, in, under or over a blank say what it is for: those of ``signature_words.json``, which are regular
expressions.
"""

import ctypes
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pypdfium2
from pypdfium2 import raw

from paraph.pdf.structure.pages import Box, apply, around, compose, transform_box
from paraph.pdf.untrusted.jobs.characters import PageText, readable_pages, text_runs
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

_MOST_PATHS = 5_000  # of a page
_MOST_SEGMENTS = 400  # of a path: drawings have more
_MOST_EDGES = 2_000  # of a page
_MOST_RULES = 200  # of a page, across, and as many upright
_DEEPEST = 4  # forms within forms
_LEVEL = 0.5  # points by which a line may slope
_THICKEST = 3.0  # points
_NEAR = 3.0  # points between parts of one line
_WHOLE = 60.0  # points: parts of this length or more are lines of their own
_SHORTEST = 8.0
_NARROWEST, _WIDEST = 60.0, 420.0  # points of a cell
_LOWEST, _HIGHEST = 12.0, 200.0


class Line(NamedTuple):
    """A straight line from ``start`` to ``end`` along one axis of reader space, at ``at`` on the other."""

    start: float
    end: float
    at: float


class Rulings(NamedTuple):
    """The lines of a page: ``across`` have their ``at`` from the bottom up, ``upright`` from the left."""

    across: list[Line]
    upright: list[Line]

    def cells(self) -> Iterator[Box]:
        """Yield each box that stands on a line across, between two upright lines, up to the next line across."""
        for start, end, low in self.across:
            standing = [each for each in self.upright if each.start <= low + _NEAR and each.end >= low + _LOWEST]
            walls = sorted(at for _, _, at in standing if start - _NEAR <= at <= end + _NEAR)
            for left, right in pairwise(walls):
                over = (line.at for line in self.across if line.start < (left + right) / 2 < line.end)
                top = min((at for at in over if at > low), default=low)
                if _NARROWEST <= right - left <= _WIDEST and _LOWEST <= top - low <= _HIGHEST:
                    yield left, low, right, top

    def is_of_table(self, line: Line) -> bool:
        """Return whether upright lines end at both ends of the line, or cross it."""
        walls = [at for low, top, at in self.upright if low - _NEAR <= line.at <= top + _NEAR]
        ends = [any(abs(at - end) <= _NEAR for at in walls) for end in line[:2]]
        return all(ends) or any(line.start + _NEAR < at < line.end - _NEAR for at in walls)


def rulings(page: PageText) -> Rulings:
    """Return the lines of the page, those of its forms included."""
    across: list[Line] = []
    upright: list[Line] = []
    with suppress(pypdfium2.PdfiumError):
        for x, y, x2, y2 in islice(_edges(page), _MOST_EDGES):
            if abs(y - y2) <= _LEVEL:
                across.append(Line(min(x, x2), max(x, x2), y))
            elif abs(x - x2) <= _LEVEL:
                upright.append(Line(min(y, y2), max(y, y2), x))
    return Rulings(_joined(across), _joined(upright))


def _joined(lines: Iterable[Line]) -> list[Line]:
    """Return lines put together from their parts, which many programs draw one by one, or as both sides of a bar."""
    joined: list[Line] = []
    for line in sorted(lines):
        for index, last in enumerate(joined):
            is_whole = min(line.end - line.start, last.end - last.start) >= _WHOLE
            touches = line.start - last.end <= (-_NEAR if is_whole else _NEAR)
            if touches and abs(line.at - last.at) <= _THICKEST:
                joined[index] = Line(last.start, max(last.end, line.end), max(last.at, line.at))
                break
        else:
            joined += [line][: _MOST_RULES - len(joined)]
    return [line for line in joined if line.end - line.start >= _SHORTEST]


def _edges(page: PageText) -> Iterator[Box]:
    """Yield where each straight part of the drawings begins and ends, in reader space."""
    paths = page.page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=_DEEPEST)
    for drawn in islice(paths, _MOST_PATHS):
        matrix, around = drawn.get_matrix().get(), drawn.container
        while around:
            matrix, around = compose(matrix, around.get_matrix().get()), around.container
        matrix = compose(matrix, page.geometry.to_reader)
        start = last = (0.0, 0.0)
        for index in range(min(raw.FPDFPath_CountSegments(drawn), _MOST_SEGMENTS)):
            segment, x, y = raw.FPDFPath_GetPathSegment(drawn, index), ctypes.c_float(), ctypes.c_float()
            raw.FPDFPathSegment_GetPoint(segment, x, y)
            here, kind = apply(matrix, x.value, y.value), raw.FPDFPathSegment_GetType(segment)
            if kind == raw.FPDF_SEGMENT_LINETO:
                yield *last, *here
            if raw.FPDFPathSegment_GetClose(segment):
                yield *here, *start
            start, last = (here if kind == raw.FPDF_SEGMENT_MOVETO else start), here


_BLANK = re.compile(r"((?:_\s?){6,}|(?:\.\s?){12,}|(?:…\s?){4,})")
_ENDS = " :\t"  # of labels
_WIDTHS = (60.0, 520.0)  # points of a blank
_BESIDE = 160.0  # points from the end of a label to the blank after it, as where blanks stand under each other
_BELOW = 18.0  # points from a blank to the label under it
_CLOSE = 8.0  # points from a blank to a label that belongs to no other blank
_ABOVE = 95.0  # points from a blank to the label over its room
_IN_ROW = 400.0  # points from the label of a row to a cell of it
_HEADED = 200.0  # points from the head of a column to a cell of it
_ROWS = 3  # rows that belong to a label, each next to the one before it
_INTO = 4.0  # points by which letters reach into the next row or under a blank, and blanks are apart
_INSIDE = 2.0  # points from the borders of a cell
_THIN = 0.5  # points: the height of a floor that is a line
_LEAST_ROOM = 8.0  # points over a blank
_PARTY_ROOM = 20.0  # points over a blank that only a party's name marks
_MOST_ROOM = 120.0
_STAMP = 200.0  # points of a blank that have to be free
_MOST_LINES = 200  # that wait for a signature, and as many other blanks
_MOST_CHARACTERS = 200_000  # of the pages that are looked at; two seconds
_LONGEST = 100  # characters of a label
_NAMED = 300.0  # points: the longest blank that the name under it marks
_SENTENCE = 60  # characters: what is longer and stands over a blank is no label
_GOES_ON = 15  # characters after a blank that stands within a sentence

_LONGEST_LABEL = 80
_LONGEST_PARTY = 60
_WORDS = json.loads(Path(__file__).with_name("signature_words.json").read_text("utf-8"))
_OF = {name: f"(?:{'|'.join(each)})" for name, each in _WORDS.items()}
_NOUN, _AND, _PART = _OF["signature_as_noun"], _OF["and"], rf"(?:{_OF['particles']}|[^\W\d_a-z][\w'’.-]*)"
_ONE = rf"{_OF['before_party']}{{0,2}}{_OF['party']}{_OF['party_ends']}?"
_SIGNED_HERE = re.compile(_OF["signature"], re.IGNORECASE)
_OTHERWISE = re.compile(rf"^\W*{_OF['printed']}?{_OF['otherwise']}\b", re.IGNORECASE)
_WITH_SIGNATURE = re.compile(rf"[,/&+]\s*(?:\w+\s+)?{_NOUN}|{_AND} {_NOUN}", re.IGNORECASE)
_WHEN_OR_WHERE = re.compile(rf"\b{_OF['signed']}\s+{_OF['when_or_where']}\b|\bfait à|\bdate\b.*\bsign", re.IGNORECASE)
_PARTY = re.compile(rf"^\W*{_ONE}(?=$|[\s\W])|[,(\u2013-]\s*{_ONE}\)?$", re.IGNORECASE)
_NAME = re.compile(rf"(?:{_OF['titles']}\.? )*[^\W\d_a-z][\w'’.-]*(?: {_PART}){{1,4}}")

Found = list[Any]  # a row of the answer, with what `_asks` says at its end


class _Words(NamedTuple):
    """Words that stand together, with the box around them."""

    text: str
    box: Box


class _Sheet(NamedTuple):
    """What stands on a page: its words, and the ink of blanks and lines; whether it speaks of signing."""

    words: list[_Words]
    floors: list[Box]
    speaks: bool


class _Blank(NamedTuple):
    """``floor``: the ink of the blank, to be signed on; ``before`` and ``after``: the words beside it on its line."""

    floor: Box
    before: str = ""
    after: str = ""


def list_signature_lines(file: UntrustedFile) -> JobAnswer:
    """Return ``{"lines": [[label, page_number, left, bottom, right, top, room, about, is_for_signature], …]}`` in
    reading order, those for signatures first. Pages that speak of signing are looked at first, the others as far as
    time allows."""
    found: list[Found] = []
    left = _MOST_CHARACTERS
    for speaks in (True, False):
        for page in readable_pages(file):
            if left >= 0 and bool(_SIGNED_HERE.search(page.quick())) is speaks:
                left -= page.count
                found += _of_page(page, speaks=speaks)
    found.sort(key=lambda each: (each[1], -round(each[3] / 20), each[2]))
    first = next((each[1] for each in found if each[-1] == 2), 0)
    for each in found:  # before the first signature, blanks with a party's name are for filling in
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
    on = _Sheet(words, floors, speaks)
    for blank in blanks:
        room = min(_room(blank.floor, on), page.geometry.height - blank.floor[3])
        if min(blank.floor) >= 0 and blank.floor[2] <= page.geometry.width and room >= _LEAST_ROOM:
            label, about, asked = _labelled(blank, room, on)
            yield [label[:_LONGEST], page.index + 1, *blank.floor, round(room, 2), about[: 2 * _LONGEST], asked]
    cells = [cell for cell in drawn.cells() if not any(_middle_in(floor, cell) for floor in floors)]
    free = [cell for cell in cells if not any(_middle_in(each.box, cell) for each in words)]
    for cell in cells:
        if cell in free or not any(_is_next(each, cell) for each in free):  # a label beside a free cell is no place
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
    labels = next(iter(_rows((line.start, 0, line.end, 0), line.at, _BELOW, words, up=False)), [])
    starts = [line.start, *(max(label.box[0] - _INSIDE, line.start) for label in labels[1:]), line.end]
    for start, end in pairwise(starts):
        if _WIDTHS[0] <= end - start <= _WIDTHS[1]:
            yield _Blank((start, line.at - _THIN, end, line.at))


def _same(floor: Box, other: Box) -> bool:
    return abs(floor[1] - other[1]) < _INTO and floor[0] < other[2] and other[0] < floor[2]


def _room(floor: Box, on: _Sheet) -> float:
    """Return how many points over the blank are free; 0 where words stand on it."""
    left, level, right = floor[0], floor[3] + 1, min(floor[2], floor[0] + _STAMP)
    inked = [box for box in (*(each.box for each in on.words), *on.floors) if box[0] < right and box[2] > left]
    on_it = any(box[1] <= level and box[3] > level + _INTO for box in inked)
    return 0 if on_it else min([*(box[1] - level for box in inked if box[1] > level), _MOST_ROOM])


def _labelled(blank: _Blank, room: float, on: _Sheet) -> tuple[str, str, int]:
    """Return the first words that say what the blank is for, all words around it, and what the first ask for."""
    left, level, right, _ = blank.floor
    on_line = [each for each in on.words if each.box[1] - _INTO <= level <= each.box[3]]
    near = [(left - each.box[2], each.text) for each in on_line if -_INTO <= left - each.box[2] <= _BESIDE]
    before = blank.before or min(near, default=(0.0, ""))[1]
    below = [_text(row) for row in _rows(blank.floor, level, _BELOW, on.words, up=False)]
    told = [each for each in (before, blank.after, *below, *_heads(blank.floor, room, on)) if each]
    asking = [each for each in told if _asks(each) > 0 or (_asks(each) and each not in below[1:])]
    label = next(iter([*asking, *told]), "")
    asked = max(_asks(label), 0)
    if not asking and not before and below and _is_name(below[0]) and right - left <= _NAMED:
        asked = int(on.speaks)
    is_filled_in = room < _PARTY_ROOM or len(blank.after) > _GOES_ON
    return label, " / ".join(told), 0 if asked == 1 and is_filled_in else asked


def _heads(floor: Box, room: float, on: _Sheet) -> list[str]:
    """Return the short rows over the room of a blank; none where they are the label of another one."""
    rows = _rows(floor, floor[3] + room, _ABOVE - room, on.words, up=True)
    others = [each for each in on.floors if each[2] - each[0] <= _NAMED]
    if any(_rows(other, other[1], _CLOSE, row, up=False) for other in others for row in rows):
        return []
    return [text for row in rows if len(text := _text(row)) <= _SENTENCE and text[-1:] not in ".;,"]


def _text(row: Sequence[_Words]) -> str:
    return " ".join(each.text for each in row)


def _rows(floor: Box, level: float, reach: float, words: Sequence[_Words], *, up: bool) -> list[list[_Words]]:
    """Return the words over or under the level of the floor, row by row, as long as each is next to the one before."""
    rows: list[list[_Words]] = []
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
    """Yield the highest gap of a cell that holds only words that ask for a signature, or of an empty cell with such
    words beside, over or under it."""
    left, bottom, right, top = cell
    inside = sorted((each for each in words if _middle_in(each.box, cell)), key=lambda each: -each.box[1])
    edges = [top, *(edge for each in inside for edge in (each.box[3], each.box[1])), bottom]
    room, low = max((high - low, low) for high, low in zip(edges[::2], edges[1::2], strict=True))
    under, over = (left, bottom - _BELOW, right, bottom), (left, top, right, top + _HEADED)
    sides = ((left - _IN_ROW, bottom, left, top), under, over)
    beside = [_nearest([each for each in words if _middle_in(each.box, side)], cell) for side in sides]
    told = [_text(inside)] if inside else beside
    label, room = max(told, key=_asks), min(room - 2 * _INSIDE, _MOST_ROOM)
    if _asks(label) > 0 and room >= _PARTY_ROOM and min(map(_asks, told[:2])) >= 0:
        floor = (left + _INSIDE, low + _INSIDE - _THIN, right - _INSIDE, low + _INSIDE)
        about = " / ".join(dict.fromkeys(filter(None, [*told, *beside])))
        yield [label[:_LONGEST], page, *floor, room, about[: 2 * _LONGEST], _asks(label)]


def _is_next(free: Box, cell: Box) -> bool:
    """Return whether the free cell is to the right of the other one, or under it."""
    aside, under = (abs(free[0] - cell[2]), free[3] - cell[3]), (free[0] - cell[0], abs(free[3] - cell[1]))
    return any(max(map(abs, each)) < _INTO for each in (aside, under))


def _nearest(words: Sequence[_Words], cell: Box) -> str:
    away = {each.text: abs(each.box[0] - cell[0]) + abs(each.box[1] - cell[1]) for each in words}
    return min(away, key=lambda text: away[text], default="")


def _middle_in(box: Box, cell: Box) -> bool:
    return cell[0] < (box[0] + box[2]) / 2 < cell[2] and cell[1] < (box[1] + box[3]) / 2 < cell[3]


def _asks(label: str) -> int:
    """Return 2 where the words beside a blank ask for a signature, 1 where they name who might sign there, -1 where
    they ask for something else, such as a date, otherwise 0."""
    otherwise = _WHEN_OR_WHERE.search(label) or _OTHERWISE.match(label)
    if otherwise or len(label) > _LONGEST_LABEL:
        return 2 if otherwise and _WITH_SIGNATURE.search(label) else -bool(otherwise)
    return 2 if _SIGNED_HERE.search(label) else int(len(label) <= _LONGEST_PARTY and bool(_PARTY.search(label)))


def _is_name(label: str) -> bool:
    """Return whether the words may be somebody's name."""
    return len(label) <= _LONGEST_PARTY and bool(_NAME.fullmatch(label))
