"""The pages of a file as its page tree lists them, with inherited attributes (ISO 32000-1, 7.7.3)."""

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from paraph.pdf.structure.geometry import PageGeometry, page_geometry
from paraph.pdf.structure.objects import Dictionary, Ref, Unsafe, number_of
from paraph.pdf.structure.reader import PdfReader

_INHERITED = (b"/MediaBox", b"/CropBox", b"/Rotate", b"/Resources")


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


def geometries_of(reader: PdfReader, pages: Iterable[PageNode]) -> list[PageGeometry]:
    """Return the geometry of each page. Raises as :func:`geometry_of` does."""
    return [geometry_of(reader, page) for page in pages]


def _numbers(reader: PdfReader, value: Any) -> tuple[float, ...] | None:
    array = reader.resolve(value)
    if type(array) is not list:
        return None
    numbers = [number_of(reader.resolve(item)) for item in array]
    return tuple(number for number in numbers if number is not None) if None not in numbers else None
