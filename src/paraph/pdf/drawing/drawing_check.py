"""The marks in the check of a fresh seal: each page shows what it was to show, read from the finished file.

That pages are of one kind is found out here as it is by the writer; which objects they name is read from each.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from paraph.pdf.drawing.marks import Drawing
from paraph.pdf.errors import SealError
from paraph.pdf.structure.objects import Ref, Stream
from paraph.pdf.structure.page_shapes import Kind, divided, marked, reference
from paraph.pdf.structure.reader import Reader, decoded

_WATERMARKS_CHECKED = 20
_DRAWN = re.compile(rb"(/\S+) Do")


class Placed(NamedTuple):
    """What must be found again: a drawing in the contents of a page, or in its last annotation.

    ``background``: a watermark alone, of which a sample is looked at.
    """

    page: Ref
    drawing: Drawing
    in_annotation: bool
    background: bool = False


def check_drawings(reader: Reader, placed: Sequence[Placed]) -> None:
    """Raises :class:`SealError` unless the forms that the last drawing of each page shows are those that it was to
    show."""
    look = _Look(reader)
    for item in _worth_looking_at(placed):
        if item.in_annotation:
            found = look.in_annotation(item.page)
        else:
            found = look.in_contents_alike(item.page) if item.background else look.in_contents(item.page)
        if found != set(item.drawing.names.values()) or not all(look.is_stream(form) for form in found):
            raise SealError("A mark is missing from its page.")


def _worth_looking_at(placed: Sequence[Placed]) -> list[Placed]:
    """Every page with a mark of its own, and watermarks evenly over the document."""
    backgrounds = [item for item in placed if item.background]
    step = -(-len(backgrounds) // _WATERMARKS_CHECKED) or 1
    return [item for item in placed if not item.background] + backgrounds[::step]


class _Places(NamedTuple):
    """In which holes pages of a kind have their last content stream and the objects that can be drawn by name."""

    contents: int
    objects: dict[bytes, int | None]


class _Look:
    """Finds the forms that pages show. Pages of one kind are parsed once."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._places: dict[tuple[bytes, ...], _Places | None] = {}
        self._names: dict[Any, list[bytes]] = {}

    def is_stream(self, form: Any) -> bool:
        return isinstance(self._reader.resolve(form), Stream)

    def in_contents(self, page: Ref) -> set[Any]:
        dictionary = self._reader.dictionary(page)
        last = self._reader.resolve(dictionary[b"/Contents"])[-1]
        return self._named(self._drawn_by(last), self._resources(dictionary))

    def in_contents_alike(self, page: Ref) -> set[Any]:
        """The same, quickly for a page whose kind it has seen."""
        between, holes = divided(self._reader.text_of(page))
        if between not in self._places:
            self._places[between] = _places(Kind(between))
        places = self._places[between]
        if places is None:
            return self.in_contents(page)
        named = [places.objects.get(name) for name in self._drawn_by(reference(holes[places.contents]))]
        return {None if hole is None else reference(holes[hole]) for hole in named}

    def in_annotation(self, page: Ref) -> set[Any]:
        reader = self._reader
        shown = map(reader.dictionary, reversed(reader.resolve(reader.dictionary(page)[b"/Annots"])))
        annotation = next(item for item in shown if b"/AP" in item)  # the archive timestamp's shows nothing
        picture = reader.dictionary(annotation[b"/AP"])[b"/N"]
        names, stream = self._drawn_by(picture), reader.resolve(picture)
        return self._named(names, stream.dictionary[b"/Resources"])

    def _drawn_by(self, ref: Any) -> list[bytes]:
        """The names that a stream draws."""
        if ref not in self._names:
            stream = self._reader.resolve(ref)
            if not isinstance(stream, Stream):
                raise SealError("A mark is missing from its page.")
            self._names[ref] = _DRAWN.findall(decoded(stream))
        return self._names[ref]

    def _named(self, names: list[bytes], resources: Any) -> set[Any]:
        objects = self._reader.dictionary(self._reader.dictionary(resources)[b"/XObject"])
        return {objects.get(name) for name in names}

    def _resources(self, page: dict[bytes, Any]) -> Any:
        node: Any = page
        while isinstance(node, dict):
            if b"/Resources" in node:
                return node[b"/Resources"]
            node = self._reader.resolve(node.get(b"/Parent"))
        raise SealError("A page lost its resources.")


def _places(kind: Kind) -> _Places | None:
    """None where they are behind references."""
    shape = kind.dictionary or {}
    contents, resources = shape.get(b"/Contents"), shape.get(b"/Resources")
    objects = resources.get(b"/XObject") if isinstance(resources, dict) else None
    last = marked(contents[-1]) if isinstance(contents, list) and contents else None
    if last is None or not isinstance(objects, dict):
        return None
    return _Places(last, {name: marked(value) for name, value in objects.items()})
