"""The straight lines that are drawn on a page, as strokes or as thin bars, and the cells of tables between them."""

import ctypes
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from pypdfium2 import raw

from paraph.pdf.structure.pages import Box, Matrix, apply, compose
from paraph.pdf.untrusted.jobs.characters import PageText

_MOST_OBJECTS = 5_000  # of a page
_MOST_SEGMENTS = 20_000  # of their paths
_MOST_LINES = 200  # of a page, across, and as many upright
_DEEPEST = 4  # forms within forms
_SHORTEST = 8.0  # points
_THICKEST = 3.0
_LEVEL = 0.5  # points by which a line may slope
_TOUCHING = 3.0  # points between parts of one line
_WHOLE = 60.0  # points: parts that are as long are lines of their own
_CELL_WIDTHS = (60.0, 420.0)
_CELL_HEIGHTS = (12.0, 200.0)


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
        for floor in self.across:
            walls = [
                wall
                for wall in self.upright
                if floor.start - _TOUCHING <= wall.at <= floor.end + _TOUCHING
                and wall.start <= floor.at + _TOUCHING
                and wall.end >= floor.at + _CELL_HEIGHTS[0]
            ]
            for left, right in pairwise(walls):
                if _CELL_WIDTHS[0] <= right.at - left.at <= _CELL_WIDTHS[1]:
                    middle = (left.at + right.at) / 2
                    tops = [line.at for line in self.across if line.start < middle < line.end and line.at > floor.at]
                    top = min(tops, default=0)
                    if _CELL_HEIGHTS[0] <= top - floor.at <= _CELL_HEIGHTS[1]:
                        yield left.at, floor.at, right.at, top

    def is_of_table(self, line: Line) -> bool:
        """Return whether upright lines end at both ends of the line, or cross it."""
        near = [wall.at for wall in self.upright if wall.start - _TOUCHING <= line.at <= wall.end + _TOUCHING]
        ends = [any(abs(at - end) <= _TOUCHING for at in near) for end in (line.start, line.end)]
        return all(ends) or any(line.start + _TOUCHING < at < line.end - _TOUCHING for at in near)


def rulings(page: PageText) -> Rulings:
    """Return the lines of the page, those of its forms included."""
    across: list[Line] = []
    upright: list[Line] = []
    for x, y, x2, y2 in _edges(page):
        if abs(y - y2) <= _LEVEL:
            across.append(Line(min(x, x2), max(x, x2), max(y, y2)))
        elif abs(x - x2) <= _LEVEL:
            upright.append(Line(min(y, y2), max(y, y2), x))
    return Rulings(_joined(across), _joined(upright))


def _joined(lines: Iterable[Line]) -> list[Line]:
    """Return lines put together from their parts, which many programs draw one by one, or as both sides of a bar."""
    bands: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.at):
        if bands and line.at - bands[-1][0].at <= _THICKEST:
            bands[-1].append(line)
        else:
            bands.append([line])
    joined = []
    for band in bands:
        row: list[Line] = []
        for line in sorted(band):
            last = row[-1] if row else None
            gap = line.start - last.end if last else 0.0
            long = last and min(last.end - last.start, line.end - line.start) >= _WHOLE
            if last and gap <= (-_TOUCHING if long else _TOUCHING):
                row[-1] = Line(last.start, max(last.end, line.end), max(last.at, line.at))
            else:
                row.append(line)
        joined += [line for line in row if line.end - line.start >= _SHORTEST]
    return joined[:_MOST_LINES]


def _edges(page: PageText) -> Iterator[Box]:
    """Yield where each straight part of the drawings begins and ends, in reader space."""
    left = _MOST_SEGMENTS
    for drawn, to_reader in _paths(page):
        fill, stroke, thickness = ctypes.c_int(), ctypes.c_int(), ctypes.c_float()
        raw.FPDFPath_GetDrawMode(drawn, fill, stroke)
        raw.FPDFPageObj_GetStrokeWidth(drawn, thickness)
        matrix = compose(_matrix(drawn), to_reader)
        is_thin = stroke.value and thickness.value * max(map(abs, matrix[:4])) <= _THICKEST
        count = raw.FPDFPath_CountSegments(drawn) if fill.value or is_thin else 0
        left -= max(count, 0)
        if left < 0:
            return
        start = last = (0.0, 0.0)
        for index in range(count):
            segment, x, y = raw.FPDFPath_GetPathSegment(drawn, index), ctypes.c_float(), ctypes.c_float()
            raw.FPDFPathSegment_GetPoint(segment, x, y)
            here, kind = apply(matrix, x.value, y.value), raw.FPDFPathSegment_GetType(segment)
            if kind == raw.FPDF_SEGMENT_MOVETO:
                start = here
            elif kind == raw.FPDF_SEGMENT_LINETO:
                yield *last, *here
            if raw.FPDFPathSegment_GetClose(segment):
                yield *here, *start
            last = here


def _paths(page: PageText) -> Iterator[tuple[Any, Matrix]]:
    """Yield each path with the matrix from where it is drawn to reader space."""
    left, containers = _MOST_OBJECTS, [(None, page.geometry.to_reader, 0)]
    while containers:
        form, matrix, depth = containers.pop()
        count = raw.FPDFFormObj_CountObjects(form) if form else raw.FPDFPage_CountObjects(page.page)
        for index in range(min(count, left)):
            drawn = raw.FPDFFormObj_GetObject(form, index) if form else raw.FPDFPage_GetObject(page.page, index)
            kind = raw.FPDFPageObj_GetType(drawn) if drawn else None
            if kind == raw.FPDF_PAGEOBJ_PATH:
                yield drawn, matrix
            elif kind == raw.FPDF_PAGEOBJ_FORM and depth < _DEEPEST:
                containers.append((drawn, compose(_matrix(drawn), matrix), depth + 1))
        left -= min(count, left)


def _matrix(drawn: Any) -> Matrix:
    found = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(drawn, found)
    return found.a, found.b, found.c, found.d, found.e, found.f
