"""Marks and the overlay: pictures drawn over pages, upright in reader space (rule 4.5), from the pages of another PDF.

Those pages are imported as form XObjects; objects that they share are imported once.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from paraph.pdf.structure.objects import Dictionary, PdfStream, Ref, number
from paraph.pdf.structure.pages import (
    Box,
    Matrix,
    PageGeometry,
    PageNode,
    Rect,
    around,
    compose,
    geometry_of,
    pages,
    transform_box,
)
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision
from paraph.pdf.structure.unpacking import unpacked

_LEFT_BEHIND = frozenset({b"/StructParents", b"/StructParent", b"/Parent", b"/Metadata", b"/PieceInfo"})
_LAYERS_CLOSED = 5000  # EMC operators, which compress to almost nothing
ASPECT = 2.0  # width / height, the default of InitialsContent
_HEIGHT, _SMALLEST = 24.0, 7.0
_MARGIN = 14.0
_GAP = 0.12  # between two initials, relative to their width


@dataclass(frozen=True)
class FormXObject:
    """A form XObject that shows one page, with the geometry of that page."""

    ref: Ref
    geometry: PageGeometry


class FormXObjects:
    """The pages of ``source``, imported into ``revision`` on first use."""

    def __init__(self, source: PdfReader, revision: Revision) -> None:
        self._source = source
        self._revision = revision
        self._pages = list(pages(source))
        self._forms: dict[int, FormXObject] = {}
        self._copies: dict[Ref, Ref] = {}

    def __len__(self) -> int:
        return len(self._pages)

    def form(self, index: int) -> FormXObject:
        if index not in self._forms:
            page = self._pages[index]
            geometry = geometry_of(self._source, page)
            self._forms[index] = FormXObject(self._import(page, geometry), geometry)
        return self._forms[index]

    def _import(self, page: PageNode, geometry: PageGeometry) -> Ref:
        drawn = self._contents(page)
        entries: Dictionary = {
            b"/Type": b"/XObject",
            b"/Subtype": b"/Form",
            b"/BBox": [float(edge) for edge in geometry.visible],
            b"/Resources": self._copy(self._source.resolve(page.get(b"/Resources")) or {}),
        }
        group = page.dictionary.get(b"/Group")
        if group is not None:
            entries[b"/Group"] = self._copy(group)
        entries.update({key: drawn.dictionary[key] for key in (b"/Filter", b"/DecodeParms") if key in drawn.dictionary})
        return self._revision.stream(drawn.data, entries)

    def _contents(self, page: PageNode) -> PdfStream:
        """Return the contents as one stream: a single one as stored, several joined."""
        contents = self._source.resolve(page.dictionary.get(b"/Contents"))
        parts = [self._source.resolve(item) for item in contents] if isinstance(contents, list) else [contents]
        streams = [part for part in parts if isinstance(part, PdfStream)]
        if len(streams) == 1:
            return streams[0]
        return PdfStream({}, b"\n".join(unpacked(stream) for stream in streams))

    def _copy(self, value: Any) -> Any:
        kind = type(value)
        if kind is Ref:
            return self._copied_object(value)
        if kind is dict:
            return {key: self._copy(item) for key, item in value.items() if key not in _LEFT_BEHIND}
        if kind is list:
            return [self._copy(item) for item in value]
        return value

    def _copied_object(self, ref: Ref) -> Ref:
        if ref not in self._copies:
            self._copies[ref] = self._revision.reserve()
            value = self._source.object(ref)
            if isinstance(value, PdfStream):
                # An opaque drawing looks the same without its isolated group, and PDF/A-1 forbids transparency groups.
                entries = {key: item for key, item in value.dictionary.items() if key not in (b"/Length", b"/Group")}
                copied: Any = PdfStream(self._copy(entries), value.data)
            else:
                copied = self._copy(value)
            self._revision.put(self._copies[ref], copied)
        return self._copies[ref]


@dataclass(frozen=True)
class Mark:
    """One picture on one page, as a rectangle in reader space (points, origin bottom left). ``page_number`` counts
    from 1; ``appearance`` is the page (from 0) of the appearances that is scaled to the rectangle. A mark that
    annotations might hide is drawn above them."""

    page_number: int
    x: float
    y: float
    width: float
    height: float
    appearance: int


@dataclass(frozen=True)
class Overlay:
    """A page of the appearances (from 0), drawn centred on every page, as large as fits. ``others``: further pages of
    the appearances; each page gets the one whose proportions are nearest to its own."""

    appearance: int
    others: tuple[int, ...] = ()

    @property
    def appearances(self) -> tuple[int, ...]:
        return (self.appearance, *self.others)


@dataclass(frozen=True)
class Drawing:
    """The ``operators`` of one page, in user space within ``extent``, and ``names`` of the form XObjects they use."""

    operators: bytes
    names: dict[bytes, Ref]
    extent: Box


class ExpectedDrawing(NamedTuple):
    """A drawing that must be found in the contents of a page, or in its last annotation. ``background``: the page
    has nothing but a watermark; of such pages a sample is checked."""

    page: Ref
    drawing: Drawing
    in_annotation: bool
    background: bool = False


class DrawingComposer:
    """Compose the drawing of each page; pages with the same geometry and the same marks share one."""

    def __init__(self, form_xobjects: FormXObjects, *, layers_open: bool = False) -> None:
        """``layers_open``: page contents may leave hidden layers open, which every drawing must close first."""
        self._form_xobjects = form_xobjects
        self._prefix = b"EMC\n" * _LAYERS_CLOSED if layers_open else b""
        self._known: dict[tuple[object, ...], Drawing] = {}

    def compose(self, geometry: PageGeometry, marks: Sequence[Mark], overlay: Overlay | None) -> Drawing:
        """Return the overlay and the marks above it, tagged as an artifact for readers (ISO 32000-1, 14.8.2.2)."""
        places = [(mark.appearance, (mark.x, mark.y, mark.width, mark.height)) for mark in marks]
        key = (geometry, overlay, *places)
        if key not in self._known:
            placed = [self._fitted(geometry, overlay)] if overlay else []
            placed += [self._scaled(geometry, *place) for place in places]
            self._known[key] = _drawing(placed, self._prefix)
        return self._known[key]

    def _fitted(self, page: PageGeometry, overlay: Overlay) -> "_Placed":
        pictures = {number: self._form_xobjects.form(number).geometry for number in overlay.appearances}
        appearance, picture = min(pictures.items(), key=lambda item: _unlikeness(item[1], page))
        scale = min(page.width / picture.width, page.height / picture.height)
        width, height = scale * picture.width, scale * picture.height
        corner = (page.width - width) / 2, (page.height - height) / 2
        return self._scaled(page, appearance, (*corner, width, height))

    def _scaled(self, page: PageGeometry, appearance: int, place: tuple[float, float, float, float]) -> "_Placed":
        """Scale a picture to ``place``: left, bottom, width and height in reader space."""
        form = self._form_xobjects.form(appearance)
        x, y, width, height = place
        to_place = (width / form.geometry.width, 0.0, 0.0, height / form.geometry.height, x, y)
        return b"/Paraph%d" % appearance, form, compose(compose(form.geometry.to_reader, to_place), page.to_user)


_Placed = tuple[bytes, FormXObject, Matrix]


def _drawing(placed: list[_Placed], prefix: bytes) -> Drawing:
    operators = [prefix, b"/Artifact BMC\n"]
    for name, _, matrix in placed:
        operators.append(b"q %b cm %b Do Q\n" % (b" ".join(number(value) for value in matrix), name))
    operators.append(b"EMC\n")
    extents = [transform_box(matrix, form.geometry.visible) for _, form, matrix in placed]
    return Drawing(b"".join(operators), {name: form.ref for name, form, _ in placed}, around(extents))


def _unlikeness(one: PageGeometry, other: PageGeometry) -> float:
    """Return by how much the proportions of two pages differ, 0 where they are the same."""
    return abs(math.log(one.width * other.height / (one.height * other.width)))


def initials_row(page_width: float, page_height: float, count: int) -> list[Rect]:
    """Return places for ``count`` initials, the first signer leftmost, the last at the right margin. Initials
    measure 48 by 24 points while one row of them fits. Otherwise they shrink and take up to three rows, within the
    bottom tenth of the page. All places have one size and lie on the page, whatever its size."""
    margin = min(_MARGIN, page_width * 0.03, page_height * 0.03)
    room_width, room_height = page_width - 2 * margin, max(page_height * 0.1 - margin, page_height * 0.05)
    height, rows = max(
        ((_height(room_width, room_height, count, rows), rows) for rows in (1, 2, 3)),
        key=lambda option: (option[0] >= min(_SMALLEST, _height(room_width, room_height, 1, 1)), -option[1]),
    )
    in_a_row = math.ceil(count / rows)
    width, step = height * ASPECT, height * ASPECT * (1 + _GAP)
    places = []
    for index in range(count):
        row, column = divmod(index, in_a_row)
        in_this = min(in_a_row, count - row * in_a_row)
        right = page_width - margin - (in_this - 1 - column) * step
        places.append(Rect(right - width, margin + (rows - 1 - row) * height * 1.15, width, height))
    return places


def _height(room_width: float, room_height: float, count: int, rows: int) -> float:
    """Return the largest height at which ``count`` initials fit into ``rows`` rows."""
    in_a_row = math.ceil(count / rows)
    return min(_HEIGHT, room_height / (1.15 * rows), room_width / (ASPECT * (in_a_row * (1 + _GAP) - _GAP)))
