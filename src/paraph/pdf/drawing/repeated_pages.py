"""Drawing on pages of one shape: the first one is taken as a template for all others."""

from dataclasses import dataclass
from typing import Any

from paraph.pdf.drawing.marks import Drawing
from paraph.pdf.drawing.page_writer import PageWriter
from paraph.pdf.structure.objects import Raw
from paraph.pdf.structure.page_shapes import PageShape, ShapeTemplate, has_holes, hole_number, reference
from paraph.pdf.structure.pages import PageNode
from paraph.pdf.structure.revision import Revision

_SHOWN_BY = (b"/MediaBox", b"/CropBox", b"/Rotate", b"/UserUnit")
_Key = tuple[PageShape, int]


@dataclass(frozen=True)
class _Model:
    """The template for one page shape. ``contents``: the holes with the page's own content streams; ``resources``:
    the hole with its resources, ``None`` if they are direct or inherited."""

    drawing: Drawing
    template: ShapeTemplate
    contents: list[int]
    resources: int | None


class RepeatedPages:
    """Draw on repeated pages. Their template also requires the same inherited attributes."""

    def __init__(self, revision: Revision, writer: PageWriter) -> None:
        self._revision = revision
        self._writer = writer
        self._first: dict[_Key, tuple[PageNode, Drawing]] = {}
        self._models: dict[_Key, _Model | None] = {}

    def remember(self, page: PageNode, drawing: Drawing) -> None:
        """Take ``drawing``, just written on ``page``, as right for all pages of its shape and geometry."""
        if page.shape is not None:
            self._first.setdefault(_key(page, page.shape), (page, drawing))

    def draw(self, page: PageNode) -> Drawing | None:
        """Repeat the drawing of the first page of this shape; ``None`` if the page must be handled by itself."""
        model = self._model_for(page)
        if model is None:
            return None
        if not self._writer.leaves_nothing_open(reference(page.holes[number]) for number in model.contents):
            return None
        if model.resources is not None and not self._writer.knows(
            reference(page.holes[model.resources]), model.drawing
        ):
            return None
        self._revision.put(page.ref, Raw(model.template.filled(page.holes)))
        return model.drawing

    def _model_for(self, page: PageNode) -> _Model | None:
        """Return the template, made when the second page of its shape comes."""
        key = _key(page, page.shape) if page.shape else None
        if key is None or key not in self._first:
            return None
        if key not in self._models:
            self._models[key] = self._model(key[0], *self._first[key])
        return self._models[key]

    def _model(self, shape: PageShape, first: PageNode, drawing: Drawing) -> _Model | None:
        """Make the template; ``None`` where something needed of each page is behind a reference."""
        pattern = shape.dictionary
        if pattern is None or b"/Annots" in pattern or has_holes([pattern.get(key) for key in _SHOWN_BY]):
            return None
        contents, resources = _holes(pattern.get(b"/Contents")), pattern.get(b"/Resources")
        if contents is None or (isinstance(resources, dict) and hole_number(resources.get(b"/XObject")) is not None):
            return None
        dictionary, resources_hole = dict(pattern), hole_number(resources)
        if resources_hole is not None:
            if not self._writer.knows(reference(first.holes[resources_hole]), drawing):
                return None
            dictionary[b"/Resources"] = reference(first.holes[resources_hole])
        self._writer.write_into(dictionary, first.inherited, _listed(pattern[b"/Contents"]), drawing)
        if resources_hole is not None:
            dictionary[b"/Resources"] = resources
        return _Model(drawing, ShapeTemplate(dictionary), contents, resources_hole)


def _key(page: PageNode, shape: PageShape) -> _Key:
    return shape, id(page.inherited)  # the first page keeps that object alive


def _holes(value: Any) -> list[int] | None:
    """Return the holes that an entry consists of; ``None`` if it has anything else."""
    numbers = [hole_number(item) for item in _listed(value)]
    known = [number for number in numbers if number is not None]
    return known if known and len(known) == len(numbers) else None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
