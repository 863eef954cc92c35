"""Drawn signatures: from the points of a pointer to ink.

A stroke becomes a filled outline around a smoothed centre line, thinner where the hand was fast, as with a pen.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from paraph.pdf.typesetting.simplified_strokes import MOST_POINTS, MOST_STROKES, simplified

Point = tuple[float, float]

_STEP = 0.005  # spacing of points on the smoothed line, as a share of the drawing's longer side
_MOST_STEPS = 3000  # of all strokes: a line that is longer than fifteen of those sides has wider steps
_STRAIGHT = 0.05  # turn, in radians, up to which points of the line are left out
PEN = 0.008  # half-width of slow ink, likewise
_FAST = 0.05  # spacing of given points at which the ink is thinnest


@dataclass(frozen=True)
class Ink:
    """``path``: an SVG path in units of the drawing, ``width`` by ``height`` its size, both at most 1000."""

    path: str
    width: float
    height: float

    def svg(self, colour: str) -> str:
        """A picture of it. An isolated group is an object of its own in a PDF, which is drawn in several places."""
        size = f'viewBox="0 0 {self.width:.1f} {self.height:.1f}" width="{self.width:.1f}" height="{self.height:.1f}"'
        drawn = f'<g style="isolation:isolate"><path fill="{colour}" d="{self.path}"/></g>'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{drawn}</svg>'


def ink(strokes: Iterable[Sequence[Sequence[float]]], aspect: float = 1.0, pen: float = PEN) -> Ink | None:
    """The ink of ``[[[x, y], …], …]`` with x and y in 0..1, y downwards; ``None`` when nothing visible was drawn.

    The path stays within about 130 KB, however much was drawn: of more points than are left by
    :mod:`paraph.pdf.typesetting.simplified_strokes`, only those count.

    ``aspect`` is width / height of what 0..1 stands for: 1 where x and y were divided by the same length.
    ``pen``: half-width of the line as a share of the drawing's longer side.
    """
    drawn = [line for stroke in strokes if (line := _points(stroke, aspect))]
    if not drawn:
        return None
    if len(drawn) > MOST_STROKES or sum(map(len, drawn)) > MOST_POINTS:
        drawn = [[(x, y) for x, y in line] for line in simplified(drawn)]
    xs, ys = [x for line in drawn for x, _ in line], [y for line in drawn for _, y in line]
    left, top, width, height = min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)
    longest = max(width, height)
    if longest < 1e-3:  # a tap is no signature
        return None
    margin, scale = pen * 1.5, 1 / longest
    moved = [[((x - left) * scale + margin, (y - top) * scale + margin) for x, y in line] for line in drawn]
    unit = 1000 / (1 + 2 * margin)
    step = max(_STEP, sum(map(_length, moved)) / _MOST_STEPS)
    path = " ".join(_outline(line, unit, pen, step) for line in moved)
    return Ink(path, (width * scale + 2 * margin) * unit, (height * scale + 2 * margin) * unit)


def _points(stroke: Sequence[Sequence[float]], aspect: float) -> list[Point]:
    """The stroke's points without repetitions and without what is no number."""
    result: list[Point] = []
    for x, y in stroke:
        point = (float(x) * aspect, float(y))
        if all(map(math.isfinite, point)) and (not result or math.dist(point, result[-1]) > 1e-4):
            result.append(point)
    return result


def _length(points: Sequence[Point]) -> float:
    return sum(map(math.dist, points, points[1:]))


def _outline(points: Sequence[Point], unit: float, pen: float, step: float) -> str:
    if len(points) == 1:
        (x, y), r = points[0], pen * 1.2
        left, right, top = (x - r) * unit, (x + r) * unit, y * unit
        return f"M{left:.1f} {top:.1f}A{r * unit:.1f} {r * unit:.1f} 0 1 0 {right:.1f} {top:.1f}" + (
            f"A{r * unit:.1f} {r * unit:.1f} 0 1 0 {left:.1f} {top:.1f}Z"
        )
    line = _smooth(points, step)
    kept = _needed(line, step)
    centre, all_widths = [line[index] for index in kept], _widths(points, len(line), pen, step)
    widths = [all_widths[index] for index in kept]
    left_side: list[Point] = []
    right_side: list[Point] = []
    for index, (x, y) in enumerate(centre):
        before, after = centre[max(index - 1, 0)], centre[min(index + 1, len(centre) - 1)]
        dx, dy = after[0] - before[0], after[1] - before[1]
        length = math.hypot(dx, dy) or 1.0
        nx, ny = -dy / length * widths[index], dx / length * widths[index]
        left_side.append((x + nx, y + ny))
        right_side.append((x - nx, y - ny))
    ends = [_cap(centre[-1], widths[-1], unit), _cap(centre[0], widths[0], unit)]
    return " ".join([_closed([*left_side, *reversed(right_side)], unit), *ends])


def _cap(point: Point, radius: float, unit: float) -> str:
    """A dot at the end of a line, drawn in the outline's direction so that the two fill as one."""
    x, y, r = point[0] * unit, point[1] * unit, radius * unit
    return f"M{x - r:.1f} {y:.1f}a{r:.1f} {r:.1f} 0 1 0 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 0 {-2 * r:.1f} 0Z"


def _closed(points: Sequence[Point], unit: float) -> str:
    """A closed curve with the points as control points: quadratic pieces from middle to middle."""
    scaled = [(x * unit, y * unit) for x, y in points]
    middles = [((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for a, b in zip(scaled, [*scaled[1:], scaled[0]], strict=True)]
    curve = [f"M{middles[-1][0]:.1f} {middles[-1][1]:.1f}"]
    for control, end in zip(scaled, middles, strict=True):
        curve.append(f"Q{control[0]:.1f} {control[1]:.1f} {end[0]:.1f} {end[1]:.1f}")
    return "".join(curve) + "Z"


def _smooth(points: Sequence[Point], step: float) -> list[Point]:
    """Points on the Catmull-Rom spline through the given ones (centripetal enough at pointer spacing)."""
    result: list[Point] = [points[0]]
    for index in range(len(points) - 1):
        p0, p1 = points[max(index - 1, 0)], points[index]
        p2, p3 = points[index + 1], points[min(index + 2, len(points) - 1)]
        steps = _steps(math.dist(p1, p2), step)
        for number in range(1, steps + 1):
            t = number / steps
            result.append((_spline(p0[0], p1[0], p2[0], p3[0], t), _spline(p0[1], p1[1], p2[1], p3[1], t)))
    return result


def _spline(a: float, b: float, c: float, d: float, t: float) -> float:
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)


def _needed(line: Sequence[Point], step: float) -> list[int]:
    """Indexes of the points that make the shape, both ends among them: few where the line is straight, so that
    20,000 given points do not become 20,000 curves."""
    result, travelled, heading = [0], 0.0, math.inf
    for index, (before, point) in enumerate(pairwise(line), start=1):
        travelled += math.dist(before, point)
        if travelled < step:
            continue
        direction = math.atan2(point[1] - before[1], point[0] - before[0])
        turned = math.inf if heading == math.inf else abs((direction - heading + math.pi) % math.tau - math.pi)
        if turned > _STRAIGHT or travelled > 6 * step:
            result.append(index)
            travelled, heading = 0.0, direction
    return result if result[-1] == len(line) - 1 else [*result, len(line) - 1]


def _widths(points: Sequence[Point], count: int, pen: float, step: float) -> list[float]:
    """Half-widths along the smoothed line of ``count`` points: thin where the given points lie far apart, drawn out
    at both ends."""
    along = [gap for gap in map(math.dist, points, points[1:]) for _ in range(_steps(gap, step))]
    result: list[float] = []
    speed = along[0]
    for index in range(count):
        speed += (along[min(index, len(along) - 1)] - speed) * 0.12
        width = pen * (1.15 - 0.6 * min(1.0, speed / _FAST))
        end = min(index, count - 1 - index) / 8
        result.append(width * (0.55 + 0.45 * min(1.0, end)))
    return result


def _steps(gap: float, step: float) -> int:
    return max(1, min(64, math.ceil(gap / step)))
