"""The pages of a file as its page tree gives them, with what they inherit (ISO 32000-1, 7.7.3)."""

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from paraph.pdf.structure.geometry import PageGeometry, page_geometry
from paraph.pdf.structure.objects import Dictionary, Ref, Unsafe, numeric
from paraph.pdf.structure.page_shapes import Kind, divided
from paraph.pdf.structure.reader import Reader

_MANY = 3  # siblings of which it pays to compare the texts
_INHERITED = (b"/MediaBox", b"/CropBox", b"/Rotate", b"/Resources")
_GEOMETRY = (b"/MediaBox", b"/CropBox", b"/Rotate", b"/UserUnit")


class Page(NamedTuple):
    """``inherited`` has the attributes of the ancestors, the nearest one's before all others; pages of one parent
    share it. ``kind`` and what is in its ``holes``: the text of the page, where that is at hand."""

    reader: Reader
    ref: Ref
    inherited: Dictionary
    kind: Kind | None
    holes: list[bytes]

    @property
    def dictionary(self) -> Dictionary:
        """Its own attributes."""
        return self.reader.dictionary(self.ref)

    def get(self, key: bytes) -> Any:
        """The page's own value, else the inherited one."""
        return self.dictionary.get(key, self.inherited.get(key))


def pages(reader: Reader) -> Iterator[Page]:
    """Every page in order. Raises :class:`Unsafe` where the tree is out of order, at the latest behind the last page:
    some readers go by what its nodes count, others by what they hold."""
    root = reader.dictionary(reader.trailer.get(b"/Root"))
    top = root.get(b"/Pages")
    waiting: list[tuple[Any, Dictionary, bool] | _End] = [(top, {}, False)]
    seen = set[Ref]()
    kinds: dict[tuple[bytes, ...], Kind] = {}
    count = 0
    while waiting:
        step = waiting.pop()
        if isinstance(step, _End):
            if step.expected != count - step.before:
                raise Unsafe("the page tree counts its pages wrongly")
            continue
        ref, inherited, among_many = step
        if type(ref) is not Ref or ref in seen:
            raise Unsafe("the page tree repeats itself or holds a page directly")
        seen.add(ref)
        text = reader.text_of(ref) if among_many else b""
        between, holes = divided(text) if text else ((), [])
        if between in kinds:
            count += 1
            yield Page(reader, ref, inherited, kinds[between], holes)
            continue
        node = reader.dictionary(ref)
        kids, kind = reader.resolve(node.get(b"/Kids")), reader.resolve(node.get(b"/Type"))
        if type(kids) is list and kind == b"/Pages":
            inherited = {**inherited, **{key: node[key] for key in _INHERITED if key in node}}
            waiting.append(_End(reader.resolve(node.get(b"/Count")), count))
            waiting.extend((kid, inherited, len(kids) >= _MANY) for kid in reversed(kids))
        elif kids is None and kind == b"/Page":
            count += 1
            kind_of_page = kinds.setdefault(between, Kind(between)) if between and b"/Kids" not in node else None
            yield Page(reader, ref, inherited, kind_of_page, holes)
        else:
            raise Unsafe("the page tree is broken")


class _End(NamedTuple):
    """Of a node: how many pages it says that it has, and how many came before it."""

    expected: Any
    before: int


def geometry_of(reader: Reader, page: Page) -> PageGeometry:
    """Where things are on the page. Raises :class:`Unsafe` for one that readers turn in different ways."""
    rotate = numeric(reader.resolve(page.get(b"/Rotate")))
    if rotate is not None and (not math.isfinite(rotate) or rotate % 90):
        raise Unsafe("a page is turned by no quarter")
    return page_geometry(
        _numbers(reader, page.get(b"/MediaBox")),
        _numbers(reader, page.get(b"/CropBox")),
        rotate,
        numeric(reader.resolve(page.dictionary.get(b"/UserUnit"))),
    )


def geometries_of(reader: Reader, pages: Iterable[Page]) -> list[PageGeometry]:
    """The same for several pages. Those of one kind and one parent have one geometry."""
    known: dict[tuple[Kind | None, int], tuple[PageGeometry, Page]] = {}
    found = []
    for page in pages:
        kind = (page.kind, id(page.inherited))  # which the page keeps
        if page.kind is None or kind not in known:
            geometry = geometry_of(reader, page)
            own = page.dictionary
            if not any(_refers(own.get(key)) for key in _GEOMETRY):
                known[kind] = geometry, page
        else:
            geometry, _ = known[kind]
        found.append(geometry)
    return found


def _refers(value: Any) -> bool:
    """Whether the value is or holds a reference, which may be another one on the next page of the kind."""
    return type(value) is Ref or (type(value) is list and any(type(item) is Ref for item in value))


def _numbers(reader: Reader, value: Any) -> tuple[float, ...] | None:
    array = reader.resolve(value)
    if type(array) is not list:
        return None
    numbers = [numeric(reader.resolve(item)) for item in array]
    return tuple(number for number in numbers if number is not None) if None not in numbers else None
