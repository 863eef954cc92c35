"""Drawn signatures in few points, without a visible difference.

The point whose removal moves the line least goes first (Visvalingam and Whyatt, with the distance from the line in
place of an area), as long as the difference is invisible or there are too many points. The spacing of points tells the
speed of the hand, which shows in the ink; a point stays where its removal would visibly widen the spacing.
"""

import heapq
import math
from collections.abc import Sequence
from itertools import pairwise

MAX_POINTS = 2_000
MAX_STROKES = 200
_INVISIBLE = 1 / 4000  # of the drawing's longer side: a tenth of a point on the largest stamp
_SPACING = 0.01  # of the longer side; ink gets thinner where points are further apart
_DECIMALS = 6

Polyline = Sequence[Sequence[float]]


def simplified(strokes: Sequence[Polyline], aspect: float = 1.0) -> list[list[list[float]]]:
    """Returns the strokes ``[[[x, y], …], …]`` with fewer points, and of too many strokes the longest.

    ``aspect``: width / height of the area that 0..1 stands for.
    """
    strokes = longest(strokes, aspect)
    line = _ThinnedStrokes(strokes, aspect)
    line.thin()
    return line.strokes()


def longest(strokes: Sequence[Polyline], aspect: float) -> list[Polyline]:
    """Returns the strokes that are kept: all, or of too many the longest, in their order."""
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
        """Returns how far the line moves without the point; a visible distance where the spacing gets too wide."""
        (x, y), (ax, ay) = self._points[index], self._points[self._before[index]]
        bx, by = self._points[self._after[index]]
        dx, dy = bx - ax, by - ay
        spacing = math.hypot(dx, dy)
        along = min(1.0, max(0.0, ((x - ax) * dx + (y - ay) * dy) / spacing**2)) if spacing else 0.0
        moved = math.hypot(x - ax - along * dx, y - ay - along * dy)
        return moved if spacing <= _SPACING else moved + _INVISIBLE


def longer_side(points: Polyline, aspect: float) -> float:
    """Returns the longer side of the box around the points."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return max((max(xs) - min(xs)) * aspect, max(ys) - min(ys))
