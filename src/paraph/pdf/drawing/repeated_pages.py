"""Drawing over pages as over the first one of their kind, without taking each of them apart."""

from dataclasses import dataclass
from typing import Any

from paraph.pdf.drawing.marks import Drawing
from paraph.pdf.drawing.page_writer import Stamper
from paraph.pdf.structure.objects import Raw
from paraph.pdf.structure.page_shapes import Kind, Mould, has_marks, marked, reference
from paraph.pdf.structure.pages import Page
from paraph.pdf.structure.revision import Revision

_SHOWN_BY = (b"/MediaBox", b"/CropBox", b"/Rotate", b"/UserUnit")
_Key = tuple[Kind, int]


@dataclass(frozen=True)
class _Model:
    """A page of a kind with the drawing. ``contents``: the holes that have its own content streams; ``resources``:
    the one that has its resources, None where it holds or inherits them."""

    drawing: Drawing
    mould: Mould
    contents: list[int]
    resources: int | None


class Alike:
    """Pages are of one kind here when they also inherit the same from the same node of the page tree."""

    def __init__(self, revision: Revision, stamper: Stamper) -> None:
        self._revision = revision
        self._stamper = stamper
        self._first: dict[_Key, tuple[Page, Drawing]] = {}
        self._models: dict[_Key, _Model | None] = {}

    def learn(self, page: Page, drawing: Drawing) -> None:
        """The stamper drew this on the page, and it is right for every page of its kind and geometry."""
        if page.kind is not None:
            self._first.setdefault(_key(page, page.kind), (page, drawing))

    def stamp(self, page: Page) -> Drawing | None:
        """Draws what was drawn on the first page of the kind. None: there was none, or this one needs a closer look."""
        model = self._model_for(page)
        if model is None:
            return None
        contents = [reference(page.holes[number]) for number in model.contents]
        if not self._stamper.leaves_nothing_open(contents):
            return None
        if model.resources is not None and not self._stamper.knows(
            reference(page.holes[model.resources]), model.drawing
        ):
            return None
        self._revision.put(page.ref, Raw(model.mould.filled(page.holes)))
        return model.drawing

    def _model_for(self, page: Page) -> _Model | None:
        """Made when the second page of its kind comes."""
        key = _key(page, page.kind) if page.kind else None
        if key is None or key not in self._first:
            return None
        if key not in self._models:
            self._models[key] = self._model(key[0], *self._first[key])
        return self._models[key]

    def _model(self, kind: Kind, first: Page, drawing: Drawing) -> _Model | None:
        """None where what must be known of each page is behind a reference."""
        shape = kind.dictionary
        if shape is None or b"/Annots" in shape or has_marks([shape.get(key) for key in _SHOWN_BY]):
            return None
        contents, resources = _marks(shape.get(b"/Contents")), shape.get(b"/Resources")
        if contents is None or (isinstance(resources, dict) and marked(resources.get(b"/XObject")) is not None):
            return None
        dictionary, its_own = dict(shape), marked(resources)
        if its_own is not None:
            if not self._stamper.knows(reference(first.holes[its_own]), drawing):
                return None
            dictionary[b"/Resources"] = reference(first.holes[its_own])
        self._stamper.draw_over(dictionary, first.inherited, _listed(shape[b"/Contents"]), drawing)
        if its_own is not None:
            dictionary[b"/Resources"] = resources
        return _Model(drawing, Mould(dictionary), contents, its_own)


def _key(page: Page, kind: Kind) -> _Key:
    return kind, id(page.inherited)  # the first page keeps that object alive


def _marks(value: Any) -> list[int] | None:
    """The holes that an entry consists of, None where it has anything else."""
    numbers = [marked(item) for item in _listed(value)]
    known = [number for number in numbers if number is not None]
    return known if known and len(known) == len(numbers) else None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
