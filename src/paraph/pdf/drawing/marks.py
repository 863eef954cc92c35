"""Marks and the overlay: pictures drawn over pages, upright in reader space (rule 4.5)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from paraph.pdf.drawing.form_xobjects import FormXObject, FormXObjects
from paraph.pdf.structure.geometry import Box, Matrix, PageGeometry, compose, transform_box
from paraph.pdf.structure.objects import Ref, number

_LAYERS_CLOSED = 5000  # they compress to almost nothing


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


class DrawingComposer:
    """Compose the drawing of each page; pages with one geometry and the same marks share it."""

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
        """``place``: left, bottom, width and height in reader space."""
        form = self._form_xobjects.form(appearance)
        x, y, width, height = place
        to_place = (width / form.geometry.width, 0.0, 0.0, height / form.geometry.height, x, y)
        return _name(appearance), form, compose(compose(form.geometry.to_reader, to_place), page.to_user)


_Placed = tuple[bytes, FormXObject, Matrix]


def _drawing(placed: list[_Placed], prefix: bytes) -> Drawing:
    operators = [prefix, b"/Artifact BMC\n"]
    for name, _, matrix in placed:
        operators.append(b"q %b cm %b Do Q\n" % (b" ".join(number(value) for value in matrix), name))
    operators.append(b"EMC\n")
    extents = [transform_box(matrix, form.geometry.visible) for _, form, matrix in placed]
    return Drawing(b"".join(operators), {name: form.ref for name, form, _ in placed}, _around(extents))


def _unlikeness(one: PageGeometry, other: PageGeometry) -> float:
    """Return by how much the proportions of two pages differ, 0 where they are the same."""
    return abs(math.log(one.width * other.height / (one.height * other.width)))


def _name(appearance: int) -> bytes:
    return b"/Paraph%d" % appearance


def _around(boxes: Sequence[Box]) -> Box:
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)
