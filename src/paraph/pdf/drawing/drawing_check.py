"""The part of a seal's self-check about drawings: each page of the finished file shows what it was to show."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from paraph.pdf.drawing.marks import Drawing
from paraph.pdf.refusal import SealError
from paraph.pdf.structure.objects import PdfStream, Ref
from paraph.pdf.structure.reader import PdfReader, decoded

_WATERMARKS_CHECKED = 20
_DRAWN = re.compile(rb"(/\S+) Do")


class ExpectedDrawing(NamedTuple):
    """A drawing that must be found in the contents of a page, or in its last annotation. ``background``: the page
    has nothing but a watermark; of such pages a sample is checked."""

    page: Ref
    drawing: Drawing
    in_annotation: bool
    background: bool = False


def check_drawings(reader: PdfReader, expected: Sequence[ExpectedDrawing]) -> None:
    """Raise :class:`SealError` unless the last drawing of each page shows exactly the expected form XObjects."""
    drawn_forms = _DrawnForms(reader)
    for item in _sample(expected):
        found = drawn_forms.in_annotation(item.page) if item.in_annotation else drawn_forms.in_contents(item.page)
        if found != set(item.drawing.names.values()) or not all(drawn_forms.is_stream(form) for form in found):
            raise SealError("A mark is missing from its page.")


def _sample(expected: Sequence[ExpectedDrawing]) -> list[ExpectedDrawing]:
    """Return every page with marks of its own, and watermarked pages evenly spread over the document."""
    backgrounds = [item for item in expected if item.background]
    step = -(-len(backgrounds) // _WATERMARKS_CHECKED) or 1
    return [item for item in expected if not item.background] + backgrounds[::step]


class _DrawnForms:
    """Find the form XObjects that pages show."""

    def __init__(self, reader: PdfReader) -> None:
        self._reader = reader
        self._names: dict[Any, list[bytes]] = {}

    def is_stream(self, form: Any) -> bool:
        return isinstance(self._reader.resolve(form), PdfStream)

    def in_contents(self, page: Ref) -> set[Any]:
        dictionary = self._reader.dictionary(page)
        last = self._reader.resolve(dictionary[b"/Contents"])[-1]
        return self._resolve_names(self._drawn_by(last), self._resources(dictionary))

    def in_annotation(self, page: Ref) -> set[Any]:
        reader = self._reader
        shown = map(reader.dictionary, reversed(reader.resolve(reader.dictionary(page)[b"/Annots"])))
        annotation = next(item for item in shown if b"/AP" in item)  # the widget of an archive timestamp shows nothing
        picture = reader.dictionary(annotation[b"/AP"])[b"/N"]
        names, stream = self._drawn_by(picture), reader.resolve(picture)
        return self._resolve_names(names, stream.dictionary[b"/Resources"])

    def _drawn_by(self, ref: Any) -> list[bytes]:
        if ref not in self._names:
            stream = self._reader.resolve(ref)
            if not isinstance(stream, PdfStream):
                raise SealError("A mark is missing from its page.")
            self._names[ref] = _DRAWN.findall(decoded(stream))
        return self._names[ref]

    def _resolve_names(self, names: list[bytes], resources: Any) -> set[Any]:
        objects = self._reader.dictionary(self._reader.dictionary(resources)[b"/XObject"])
        return {objects.get(name) for name in names}

    def _resources(self, page: dict[bytes, Any]) -> Any:
        node: Any = page
        while isinstance(node, dict):
            if b"/Resources" in node:
                return node[b"/Resources"]
            node = self._reader.resolve(node.get(b"/Parent"))
        raise SealError("A page lost its resources.")
