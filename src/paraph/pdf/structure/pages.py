"""The pages of a file as its page tree lists them (ISO 32000-1, 7.7.3), and their geometry.

Reader space is what the API uses (rule 4.5): points of 1/72 inch on the page as shown, that is, the crop box within the
media box, after /Rotate, scaled by /UserUnit, with the origin at the bottom left. User space is the page's own.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from paraph.pdf.structure.objects import Dictionary, Ref, Unsafe, number_of
from paraph.pdf.structure.reader import PdfReader

Matrix = tuple[float, float, float, float, float, float]  # a b c d e f of ISO 32000-1, 8.3.3
Box = tuple[float, float, float, float]  # left, bottom, right, top; left < right, bottom < top

_LETTER: Box = (0.0, 0.0, 612.0, 792.0)  # the page size that viewers assume where no box is usable
_INHERITED = (b"/MediaBox", b"/CropBox", b"/Rotate", b"/Resources")


@dataclass(frozen=True)
class Rect:
    """A rectangle in points of reader space, origin at the bottom left."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class PageGeometry:
    """``visible`` in user space, ``rotate`` one of 0, 90, 180, 270 (clockwise), ``unit`` points per user unit."""

    visible: Box
    rotate: int = 0
    unit: float = 1.0

    @property
    def width(self) -> float:
        """The width in reader space, in points."""
        left, bottom, right, top = self.visible
        return (top - bottom if self.rotate % 180 else right - left) * self.unit

    @property
    def height(self) -> float:
        """The height in reader space, in points."""
        left, bottom, right, top = self.visible
        return (right - left if self.rotate % 180 else top - bottom) * self.unit

    @property
    def to_user(self) -> Matrix:
        """The matrix from reader space to user space."""
        left, bottom, right, top = self.visible
        scale = 1 / self.unit
        if self.rotate == 90:
            return (0, scale, -scale, 0, right, bottom)
        if self.rotate == 180:
            return (-scale, 0, 0, -scale, right, top)
        if self.rotate == 270:
            return (0, -scale, scale, 0, left, top)
        return (scale, 0, 0, scale, left, bottom)

    @property
    def to_reader(self) -> Matrix:
        """The matrix from user space to reader space."""
        return inverse(self.to_user)


@lru_cache(maxsize=1024)  # most pages of a document have the same geometry
def page_geometry(
    mediabox: tuple[float, ...] | None,
    cropbox: tuple[float, ...] | None = None,
    rotate: float | None = None,
    unit: float | None = None,
) -> PageGeometry:
    """Return the geometry of a page with these (inherited) attributes, read as viewers read malformed ones. A box
    without area counts as absent; a crop box counts as far as it lies in the media box; a rotation is truncated to a
    multiple of 90; a unit that is not positive is 1."""
    media = _box(mediabox) or _LETTER
    crop = _box(cropbox)
    visible = (_intersection(crop, media) or media) if crop else media
    quarter = int((rotate or 0) / 90) % 4 if math.isfinite(rotate or 0) else 0
    return PageGeometry(visible, quarter * 90, unit if unit and 0 < unit < math.inf else 1.0)


def apply(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    """Return the point that ``matrix`` maps (x, y) to."""
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def compose(first: Matrix, then: Matrix) -> Matrix:
    """Return the matrix that applies ``first``, then ``then``."""
    a, b, c, d, e, f = first
    g, h, i, j, k, m = then
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)


def inverse(matrix: Matrix) -> Matrix:
    """Return the inverse of ``matrix``. Raise ZeroDivisionError if it has none."""
    a, b, c, d, e, f = matrix
    area = a * d - b * c
    return (d / area, -b / area, -c / area, a / area, (c * f - d * e) / area, (b * e - a * f) / area)


def transform_box(matrix: Matrix, box: Box) -> Box:
    """Return the smallest upright box around ``box`` transformed by ``matrix``."""
    left, bottom, right, top = box
    corners = [apply(matrix, x, y) for x in (left, right) for y in (bottom, top)]
    return around((*corner, *corner) for corner in corners)


def around(boxes: Iterable[Box]) -> Box:
    """Return the smallest box around all ``boxes``, of which there is at least one."""
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


def _box(values: Sequence[float] | None) -> Box | None:
    if values is None or len(values) != 4 or not all(math.isfinite(value) for value in values):
        return None
    x1, y1, x2, y2 = values
    box = min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)
    return box if box[0] < box[2] and box[1] < box[3] else None


def _intersection(one: Box, other: Box) -> Box | None:
    box = max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])
    return box if box[0] < box[2] and box[1] < box[3] else None


class PageNode(NamedTuple):
    """A page. ``inherited``: attributes of its ancestors, nearest first; siblings share the dictionary."""

    reader: PdfReader
    ref: Ref
    inherited: Dictionary

    @property
    def dictionary(self) -> Dictionary:
        """The page's own attributes."""
        return self.reader.dictionary(self.ref)

    def get(self, key: bytes) -> Any:
        """Return the page's own value, else the inherited one."""
        return self.dictionary.get(key, self.inherited.get(key))


def pages(reader: PdfReader) -> Iterator[PageNode]:
    """Yield every page in order. Raise :class:`Unsafe` for a malformed tree, at the latest after the last page.
    Some readers trust the /Count of a node, others count what it holds, so both must agree."""
    root = reader.dictionary(reader.trailer.get(b"/Root"))
    top = root.get(b"/Pages")
    waiting: list[tuple[Any, Dictionary] | _End] = [(top, {})]
    seen = set[Ref]()
    count = 0
    while waiting:
        step = waiting.pop()
        if isinstance(step, _End):
            if step.expected != count - step.before:
                raise Unsafe("the page tree counts its pages wrongly")
            continue
        ref, inherited = step
        if type(ref) is not Ref or ref in seen:
            raise Unsafe("the page tree repeats itself or holds a page directly")
        seen.add(ref)
        node = reader.dictionary(ref)
        kids, kind = reader.resolve(node.get(b"/Kids")), reader.resolve(node.get(b"/Type"))
        if type(kids) is list and kind == b"/Pages":
            inherited = {**inherited, **{key: node[key] for key in _INHERITED if key in node}}
            waiting.append(_End(reader.resolve(node.get(b"/Count")), count))
            waiting.extend((kid, inherited) for kid in reversed(kids))
        elif kids is None and kind == b"/Page":
            count += 1
            yield PageNode(reader, ref, inherited)
        else:
            raise Unsafe("the page tree is broken")


class _End(NamedTuple):
    """The end of a node: its /Count, and how many pages came before it."""

    expected: Any
    before: int


def geometry_of(reader: PdfReader, page: PageNode) -> PageGeometry:
    """Return the geometry of the page. Raise :class:`Unsafe` for a rotation on which readers disagree."""
    rotate = number_of(reader.resolve(page.get(b"/Rotate")))
    if rotate is not None and (not math.isfinite(rotate) or rotate % 90):
        raise Unsafe("a page is rotated by no multiple of 90 degrees")
    return page_geometry(
        _numbers(reader, page.get(b"/MediaBox")),
        _numbers(reader, page.get(b"/CropBox")),
        rotate,
        number_of(reader.resolve(page.dictionary.get(b"/UserUnit"))),
    )


def _numbers(reader: PdfReader, value: Any) -> tuple[float, ...] | None:
    array = reader.resolve(value)
    if type(array) is not list:
        return None
    numbers = [number_of(reader.resolve(item)) for item in array]
    return tuple(number for number in numbers if number is not None) if None not in numbers else None
