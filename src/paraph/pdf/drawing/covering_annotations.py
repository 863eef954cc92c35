"""The areas that annotations, form fields included, may cover: they hide marks drawn into the page contents beneath."""

from typing import Any

from paraph.pdf.structure.geometry import Box
from paraph.pdf.structure.objects import Dictionary, number_of
from paraph.pdf.structure.pages import PageNode
from paraph.pdf.structure.revision import Revision

_NO_ZOOM, _NO_ROTATE = 8, 16
_EVERYWHERE: Box = (float("-inf"), float("-inf"), float("inf"), float("inf"))


def annotated_areas(revision: Revision, page: PageNode) -> list[Box]:
    """Return the boxes in user space where annotations of the page may draw. An annotation counts even while hidden,
    and covers the whole plane if its place is up to the viewer."""
    entry = page.dictionary.get(b"/Annots")
    annotations = revision.resolve(entry)
    if annotations is None:
        return []
    if not isinstance(annotations, list):
        return [_EVERYWHERE]
    areas = [_annotated_area(revision, revision.resolve(item)) for item in annotations]
    return [box for box in areas if box is not None]


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes share some area."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _annotated_area(revision: Revision, annotation: Any) -> Box | None:
    if annotation is None:
        return None
    if not isinstance(annotation, dict):
        return _EVERYWHERE
    subtype = revision.resolve(annotation.get(b"/Subtype"))
    if annotation.get(b"/AP") is None and subtype != b"/Widget":
        return None if subtype == b"/Link" and _has_no_border(revision, annotation) else _EVERYWHERE
    flags = revision.resolve(annotation.get(b"/F", 0))
    if not isinstance(flags, int) or flags & (_NO_ZOOM | _NO_ROTATE) or subtype == b"/Text":
        return _EVERYWHERE
    values = _numbers(revision, annotation.get(b"/Rect"))
    if len(values) != 4:
        return _EVERYWHERE
    x1, y1, x2, y2 = values
    return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)


def _has_no_border(revision: Revision, annotation: Dictionary) -> bool:
    """Whether the border has width 0; an annotation without a border entry has a border."""
    return b"/BS" not in annotation and _numbers(revision, annotation.get(b"/Border"))[2:3] == [0.0]


def _numbers(revision: Revision, value: Any) -> list[float]:
    """Return the numbers at the beginning of an array."""
    areas = list[float]()
    array = revision.resolve(value)
    for item in array if isinstance(array, list) else ():
        number = number_of(revision.resolve(item))
        if number is None:
            break
        areas.append(number)
    return areas
