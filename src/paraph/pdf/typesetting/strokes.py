"""Drawn signatures: the points of a pointer become ink, and are reduced to few without a visible difference.

Each stroke becomes a filled outline around a smoothed centre line, thinner where the hand was fast, as with a pen.

Points are removed while the difference is invisible or there are too many: first the one whose removal moves the line
least (Visvalingam and Whyatt, with the distance from the line in place of an area). The spacing of points tells
the speed of the hand; a point stays where its removal would visibly widen the spacing.
"""

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

Point = tuple[float, float]

_STEP = 0.005  # spacing of points on the smoothed line, as a share of the drawing's longer side
_MAX_STEPS = 3000  # of all strokes: lines of more than fifteen such sides in all get wider steps
_STRAIGHT = 0.05  # radians; where the line turns less, its points are left out
PEN = 0.008  # half-width of slow ink, as a share of the longer side
_FAST = 0.05  # spacing of pointer positions at which the ink is thinnest
_TAP = 1e-3  # longer side of a drawing, below which nothing of it would be seen
_DOT = 0.01  # longer side of a stroke, below which it is a tap: dots alone are no signature
MAX_POINTS = 2_000
MAX_STROKES = 200
_INVISIBLE = 1 / 4000  # of the drawing's longer side: a tenth of a point on the largest stamp
_SPACING = 0.01  # of the longer side; ink gets thinner where points are further apart
_DECIMALS = 6
Polyline = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Ink:
    """An SVG path, and the size of the drawing in the units of the path, at most 1000 by 1000."""

    path: str
    width: float
    height: float

    def svg(self, colour: str) -> str:
        """Return the picture as SVG. The group is isolated, so that Typst makes it one PDF object for all stamps."""
        size = f'viewBox="0 0 {self.width:.1f} {self.height:.1f}" width="{self.width:.1f}" height="{self.height:.1f}"'
        drawn = f'<g style="isolation:isolate"><path fill="{colour}" d="{self.path}"/></g>'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{drawn}</svg>'


def ink(strokes: Iterable[Sequence[Sequence[float]]], aspect: float = 1.0, pen: float = PEN) -> Ink | None:
    """Draw ``[[[x, y], …], …]`` with x and y in 0..1, y downwards; return ``None`` where nothing visible was drawn.

    ``aspect``: width / height of the area that 0..1 stands for, 1 where x and y were divided by the same length;
    ``pen``: half-width of the line as a share of the drawing's longer side. A drawing with too many points is
    simplified, so that the path stays within about 130 KB.
    """
    lines = [line for stroke in strokes if (line := _points(stroke, aspect))]
    if not lines:
        return None
    if len(lines) > MAX_STROKES or sum(map(len, lines)) > MAX_POINTS:
        lines = [[(x, y) for x, y in line] for line in simplified(lines)]
    xs, ys = [x for line in lines for x, _ in line], [y for line in lines for _, y in line]
    left, top, width, height = min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)
    side = max(width, height)
    if side < _TAP:
        return None
    margin, scale = pen * 1.5, 1 / side
    moved = [[((x - left) * scale + margin, (y - top) * scale + margin) for x, y in line] for line in lines]
    unit = 1000 / (1 + 2 * margin)
    length = sum(sum(map(math.dist, line, line[1:])) for line in moved)
    step = max(_STEP, length / _MAX_STEPS)
    path = " ".join(_outline(line, unit, pen, step) for line in moved)
    return Ink(path, (width * scale + 2 * margin) * unit, (height * scale + 2 * margin) * unit)


def drawing_size(strokes: Iterable[Sequence[Sequence[float]]], aspect: float = 1.0) -> tuple[float, float]:
    """Return width and height of the drawing in units of the area's height, 0 where there are no points."""
    points = [point for stroke in strokes for point in _points(stroke, aspect)]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return (max(xs) - min(xs), max(ys) - min(ys)) if points else (0.0, 0.0)


def has_ink(strokes: Sequence[Sequence[Sequence[float]]], aspect: float = 1.0) -> bool:
    """Return whether the drawing has a line, which :func:`ink` then draws, even after simplification."""
    return any(longer_side(stroke, aspect) >= _DOT for stroke in longest(strokes, aspect))


def _points(stroke: Sequence[Sequence[float]], aspect: float) -> list[Point]:
    """Return the points of a stroke without repetitions, infinities and NaN."""
    result: list[Point] = []
    for x, y in stroke:
        point = (float(x) * aspect, float(y))
        if all(map(math.isfinite, point)) and (not result or math.dist(point, result[-1]) > 1e-4):
            result.append(point)
    return result


def _outline(points: Sequence[Point], unit: float, pen: float, step: float) -> str:
    if len(points) == 1:
        return _dot(points[0], pen * 1.2, unit)
    line = _smooth(points, step)
    shaping = _shaping_points(line, step)
    all_widths = _widths(points, len(line), pen, step)
    centre, widths = [line[index] for index in shaping], [all_widths[index] for index in shaping]
    left_side: list[Point] = []
    right_side: list[Point] = []
    for index, (x, y) in enumerate(centre):
        before, after = centre[max(index - 1, 0)], centre[min(index + 1, len(centre) - 1)]
        dx, dy = after[0] - before[0], after[1] - before[1]
        length = math.hypot(dx, dy) or 1.0
        nx, ny = -dy / length * widths[index], dx / length * widths[index]
        left_side.append((x + nx, y + ny))
        right_side.append((x - nx, y - ny))
    ends = [_dot(centre[-1], widths[-1], unit), _dot(centre[0], widths[0], unit)]
    return " ".join([_closed([*left_side, *reversed(right_side)], unit), *ends])


def _dot(point: Point, radius: float, unit: float) -> str:
    """Draw a dot; at the end of a line, it turns in the direction of the outline, so that both are filled as one."""
    x, y, r = point[0] * unit, point[1] * unit, radius * unit
    return f"M{x - r:.1f} {y:.1f}a{r:.1f} {r:.1f} 0 1 0 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 0 {-2 * r:.1f} 0Z"


def _closed(points: Sequence[Point], unit: float) -> str:
    """Draw a closed curve of quadratic pieces, from middle to middle, with the points as control points."""
    scaled = [(x * unit, y * unit) for x, y in points]
    middles = [((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for a, b in zip(scaled, [*scaled[1:], scaled[0]], strict=True)]
    curve = [f"M{middles[-1][0]:.1f} {middles[-1][1]:.1f}"]
    for control, end in zip(scaled, middles, strict=True):
        curve.append(f"Q{control[0]:.1f} {control[1]:.1f} {end[0]:.1f} {end[1]:.1f}")
    return "".join(curve) + "Z"


def _smooth(points: Sequence[Point], step: float) -> list[Point]:
    """Return points on the Catmull-Rom spline through the points (centripetal enough at pointer spacing)."""
    result: list[Point] = [points[0]]
    for index in range(len(points) - 1):
        p0, p1 = points[max(index - 1, 0)], points[index]
        p2, p3 = points[index + 1], points[min(index + 2, len(points) - 1)]
        (x0, x1, x2, x3), (y0, y1, y2, y3) = map(_spline, p0, p1, p2, p3)
        for t, square, cube in _powers(_steps(math.dist(p1, p2), step)):
            x = 0.5 * (x0 + x1 * t + x2 * square + x3 * cube)
            result.append((x, 0.5 * (y0 + y1 * t + y2 * square + y3 * cube)))
    return result


def _spline(a: float, b: float, c: float, d: float) -> tuple[float, float, float, float]:
    """Return the factors of 1, t, t² and t³ in twice the spline."""
    return 2 * b, c - a, 2 * a - 5 * b + 4 * c - d, 3 * b - a - 3 * c + d


@cache
def _powers(steps: int) -> list[tuple[float, float, float]]:
    """Return t, t² and t³ for each of so many equal steps from 0 to 1, without t = 0."""
    return [(t, t**2, t**3) for t in (number / steps for number in range(1, steps + 1))]


def _shaping_points(line: Sequence[Point], step: float) -> list[int]:
    """Return the indexes of the points that make the shape, both ends included: few where the line is straight."""
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
    """Return the half-widths along the smoothed line: thin where the hand was fast, tapered at both ends."""
    along = [gap for gap in map(math.dist, points, points[1:]) for _ in range(_steps(gap, step))]
    result: list[float] = []
    speed, thinnest = along[0], pen * (1.15 - 0.45)
    for gap in [*along, along[-1]]:
        speed += (gap - speed) * 0.12
        result.append(thinnest if speed > _FAST else pen * (1.15 - 0.45 * (speed / _FAST)))
    for index in range(min(8, (count + 1) // 2)):
        for end in {index, count - 1 - index}:
            result[end] *= 0.55 + 0.45 * (index / 8)
    return result


def _steps(gap: float, step: float) -> int:
    return max(1, min(64, math.ceil(gap / step)))


def simplified(strokes: Sequence[Polyline], aspect: float = 1.0) -> list[list[list[float]]]:
    """Return the strokes ``[[[x, y], …], …]`` with fewer points, and only the longest of too many strokes.

    ``aspect``: width / height of the area that 0..1 stands for.
    """
    strokes = longest(strokes, aspect)
    line = _ThinnedStrokes(strokes, aspect)
    line.thin()
    return line.strokes()


def longest(strokes: Sequence[Polyline], aspect: float) -> list[Polyline]:
    """Return the strokes that are kept: all, or the longest of too many, in their order."""
    if len(strokes) <= MAX_STROKES:
        return list(strokes)

    def length(index: int) -> float:
        return sum(math.hypot((b[0] - a[0]) * aspect, b[1] - a[1]) for a, b in pairwise(strokes[index]))

    chosen = sorted(range(len(strokes)), key=lambda index: (-length(index), index))[:MAX_STROKES]
    return [strokes[index] for index in sorted(chosen)]


class _ThinnedStrokes:
    """The points of all strokes, in units of the drawing's longer side, linked to their remaining neighbours."""

    def __init__(self, strokes: Sequence[Polyline], aspect: float) -> None:
        self._given = [point for stroke in strokes for point in stroke]
        scale = 1 / (longer_side(self._given, aspect) or 1)
        self._points = [(x * aspect * scale, y * scale) for x, y in self._given]
        self._before = list(range(-1, len(self._given) - 1))
        self._after = list(range(1, len(self._given) + 1))
        self._costs: list[float] = [0.0] * len(self._given)  # of removing each; infinite for the ends of strokes
        self._starts: list[int] = []
        end = 0
        for stroke in strokes:
            self._starts.append(end)
            end += len(stroke)
            self._costs[self._starts[-1]] = self._costs[end - 1] = math.inf

    def thin(self) -> None:
        left = len(self._given)
        for index, cost in enumerate(self._costs):
            self._costs[index] = cost or self._cost(index)
        heap = [(cost, index) for index, cost in enumerate(self._costs) if cost < math.inf]
        heapq.heapify(heap)
        while heap and (heap[0][0] < _INVISIBLE or left > MAX_POINTS):
            cost, index = heapq.heappop(heap)
            if cost != self._costs[index]:
                continue  # outdated: a neighbour was removed since
            left -= 1
            self._costs[index] = -1
            before, after = self._before[index], self._after[index]
            self._after[before], self._before[after] = after, before
            for neighbour in (before, after):
                if self._costs[neighbour] < math.inf:
                    self._costs[neighbour] = self._cost(neighbour)
                    heapq.heappush(heap, (self._costs[neighbour], neighbour))

    def strokes(self) -> list[list[list[float]]]:
        ends = [*self._starts[1:], len(self._given)]
        return [
            [
                [round(value, _DECIMALS) for value in self._given[index]]
                for index in range(*span)
                if self._costs[index] >= 0
            ]
            for span in zip(self._starts, ends, strict=True)
        ]

    def _cost(self, index: int) -> float:
        """Return how far the line moves without the point; a visible distance where the spacing gets too wide."""
        (x, y), (ax, ay) = self._points[index], self._points[self._before[index]]
        bx, by = self._points[self._after[index]]
        dx, dy = bx - ax, by - ay
        spacing = math.hypot(dx, dy)
        along = min(1.0, max(0.0, ((x - ax) * dx + (y - ay) * dy) / spacing**2)) if spacing else 0.0
        moved = math.hypot(x - ax - along * dx, y - ay - along * dy)
        return moved if spacing <= _SPACING else moved + _INVISIBLE


def longer_side(points: Polyline, aspect: float) -> float:
    """Return the longer side of the box around the points."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return max((max(xs) - min(xs)) * aspect, max(ys) - min(ys))
