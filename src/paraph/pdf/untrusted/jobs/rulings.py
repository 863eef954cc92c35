"""The straight lines that are drawn on a page, as strokes or as thin bars, and the cells of tables between them."""

import ctypes
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice, pairwise
from typing import NamedTuple

import pypdfium2
from pypdfium2 import raw

from paraph.pdf.structure.pages import Box, apply, compose
from paraph.pdf.untrusted.jobs.characters import PageText

_MOST_PATHS = 5_000  # of a page
_MOST_SEGMENTS = 400  # of a path: drawings have more
_MOST_EDGES = 2_000  # of a page
_MOST_LINES = 200  # of a page, across, and as many upright
_DEEPEST = 4  # forms within forms
_LEVEL = 0.5  # points by which a line may slope
_THICKEST = 3.0  # points
_NEAR = 3.0  # points between parts of one line
_WHOLE = 60.0  # points: parts that are as long are lines of their own
_SHORTEST = 8.0
_NARROWEST, _WIDEST = 60.0, 420.0  # points of a cell
_LOWEST, _HIGHEST = 12.0, 200.0


class Line(NamedTuple):
    """From ``start`` to ``end`` along one axis of reader space, ``at`` on the other."""

    start: float
    end: float
    at: float


class Rulings(NamedTuple):
    """The lines of a page: ``across`` have their ``at`` from the bottom up, ``upright`` from the left."""

    across: list[Line]
    upright: list[Line]

    def cells(self) -> Iterator[Box]:
        """Yield each box between two upright lines on a line across, up to the next one."""
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
            joined += [line][: _MOST_LINES - len(joined)]
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
