"""Marks and the overlay: pictures drawn over pages, upright for the reader (specification 4.5)."""

from collections.abc import Sequence
from dataclasses import dataclass

from paraph.pdf.forms import Form, Forms
from paraph.pdf.geometry import Box, Matrix, PageGeometry, compose, transform_box
from paraph.pdf.objects import Ref, number


@dataclass(frozen=True)
class Mark:
    """One picture on one page. Rectangle in reader space: points, origin bottom left.

    ``page_number`` counts from 1; ``appearance`` is the page (from 0) of the appearances, scaled to the rectangle.
    """

    page_number: int
    x: float
    y: float
    width: float
    height: float
    appearance: int


@dataclass(frozen=True)
class Overlay:
    """A page of the appearances (from 0), drawn on every page: as large as fits, centred."""

    appearance: int


@dataclass(frozen=True)
class Drawing:
    """What is drawn on one page: ``operators`` in user space, within ``extent``, using ``names`` of form XObjects."""

    operators: bytes
    names: dict[bytes, Ref]
    extent: Box


def drawing(geometry: PageGeometry, marks: Sequence[Mark], overlay: Overlay | None, forms: Forms) -> Drawing:
    """The overlay beneath, the marks above it; all of it an artifact to screen readers (ISO 32000-1, 14.8.2.2)."""
    placed: list[tuple[bytes, Form, Matrix]] = []
    if overlay is not None:
        form = forms.form(overlay.appearance)
        placed.append((_name(overlay.appearance), form, _fit(form.geometry, geometry)))
    for mark in marks:
        form = forms.form(mark.appearance)
        placed.append((_name(mark.appearance), form, _scale(form.geometry, mark)))
    operators, extents = [b"/Artifact BMC\n"], []
    for name, form, to_reader in placed:
        matrix = compose(compose(form.geometry.to_reader, to_reader), geometry.to_user)
        extents.append(transform_box(matrix, form.geometry.visible))
        operators.append(b"q %b cm %b Do Q\n" % (b" ".join(number(value) for value in matrix), name))
    operators.append(b"EMC\n")
    names = {name: form.ref for name, form, _ in placed}
    return Drawing(b"".join(operators), names, _around(extents))


def _name(appearance: int) -> bytes:
    return b"/Paraph%d" % appearance


def _around(boxes: Sequence[Box]) -> Box:
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


def _scale(picture: PageGeometry, mark: Mark) -> Matrix:
    return (mark.width / picture.width, 0, 0, mark.height / picture.height, mark.x, mark.y)


def _fit(picture: PageGeometry, page: PageGeometry) -> Matrix:
    scale = min(page.width / picture.width, page.height / picture.height)
    return (
        scale,
        0,
        0,
        scale,
        (page.width - scale * picture.width) / 2,
        (page.height - scale * picture.height) / 2,
    )
