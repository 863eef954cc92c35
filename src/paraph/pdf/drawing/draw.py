"""Drawing marks and overlay on the pages of a revision, in the way that keeps earlier content and signatures intact."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from paraph.pdf.drawing.marks import Drawing, DrawingComposer, ExpectedDrawing, FormXObjects, Mark, Overlay
from paraph.pdf.refusal import SealError
from paraph.pdf.structure.graphics_state import PageEndings, may_leave_layers_open, without_strays
from paraph.pdf.structure.normalise import UnreadablePdf, normalised
from paraph.pdf.structure.objects import Dictionary, Ref, Unsafe, number_of
from paraph.pdf.structure.pages import Box, PageGeometry, PageNode, geometry_of, pages, transform_box
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision
from paraph.pdf.structure.signature_fields import FieldWidget

_NO_ZOOM, _NO_ROTATE = 8, 16
_EVERYWHERE: Box = (float("-inf"), float("-inf"), float("inf"), float("inf"))


class PageWriter:
    """Append drawings to pages; streams that several pages need are written once. ``clean_contents``: see
    :class:`~paraph.pdf.structure.graphics_state.PageEndings`."""

    def __init__(self, revision: Revision, *, clean_contents: bool) -> None:
        self._revision = revision
        self._streams: dict[bytes, Ref] = {}
        self._endings = PageEndings(revision.resolve, clean_contents=clean_contents)

    def write(self, page: PageNode, drawing: Drawing) -> bool:
        """Write ``q``, the page's contents, the end of all that they leave open, ``Q`` and the drawing. Return whether
        every viewer shows what is appended to the contents of the page; else nothing is written."""
        contents = self._endings.contents(page.dictionary.get(b"/Contents"))
        left_open = self._endings.ending(contents) if contents is not None else None
        if contents is None or left_open is None:
            return False
        if left_open.strays:
            contents = [self._revision.stream(without_strays(self._endings.decoded(contents) or []))]
        dictionary = self._revision.change(page.ref)
        prefix = self._name_drawing(dictionary, page.inherited, drawing)
        operators = _renamed(drawing.operators, prefix) if prefix else drawing.operators
        closed = b"\nET" * left_open.text + b"\nEMC" * left_open.marked + b"\nQ" * (1 + left_open.states)
        dictionary[b"/Contents"] = [self._stream(b"q\n"), *contents, self._stream(closed + b"\n" + operators)]
        return True

    def _stream(self, data: bytes) -> Ref:
        if data not in self._streams:
            self._streams[data] = self._revision.stream(data)
        return self._streams[data]

    def _name_drawing(self, dictionary: Dictionary, inherited: Dictionary, drawing: Drawing) -> bytes:
        """Add the names of the drawing to the page's resources. Return the letters to insert after "/Paraph" to
        make the names unique. Indirect resources are changed in place, once for all pages that share them; resources
        that the page holds or inherits directly are copied into the page."""
        holder = dictionary.get(b"/Resources", inherited.get(b"/Resources"))
        resources = self._revision.resolve(holder)
        resources = resources if isinstance(resources, dict) else {}
        known = resources.get(b"/XObject")
        existing = self._revision.resolve(known)
        existing = existing if isinstance(existing, dict) else {}
        prefix = _free_prefix(existing, drawing.names)
        added = {_renamed(name, prefix): ref for name, ref in drawing.names.items()}
        if type(known) is Ref and existing:
            self._revision.change(known).update(added)
        elif type(holder) is Ref and resources:
            self._revision.change(holder)[b"/XObject"] = {**existing, **added}
        else:
            dictionary[b"/Resources"] = {**resources, b"/XObject": {**existing, **added}}
        return prefix


def _free_prefix(existing: Dictionary, names: dict[bytes, Ref]) -> bytes:
    """Return letters that make every name either unused or already ours."""
    prefix = b""
    while any(existing.get(_renamed(name, prefix), ref) != ref for name, ref in names.items()):
        prefix += b"x"
    return prefix


def _renamed(text: bytes, prefix: bytes) -> bytes:
    return text.replace(b"/Paraph", b"/Paraph" + prefix) if prefix else text


@dataclass
class DrawnMarks:
    """What was drawn. ``widgets``: places of the seal's own field whose appearance shows marks."""

    placed: list[ExpectedDrawing] = field(default_factory=list)
    widgets: list[FieldWidget] = field(default_factory=list)


def draw_marks(
    revision: Revision,
    appearances: bytes,
    marks: Sequence[Mark],
    overlay: Overlay | None,
    *,
    signed: bool,
    clean_contents: bool = False,
) -> DrawnMarks:
    """Draw the marks and the overlay.

    They go into the page contents, or, on top of everything, into appearances of the seal's own field if the file has
    earlier signatures, an annotation might hide a mark, or the contents might swallow what follows them.
    ``clean_contents``: no contents swallow anything, so they are not read
    (:class:`paraph.pdf.structure.graphics_state.PageEndings`).

    Raise :class:`SealError` if a mark names a page or an appearance that does not exist.
    """
    drawn = DrawnMarks()
    if not marks and overlay is None:
        return drawn
    appearance_pages = [mark.appearance for mark in marks] + list(overlay.appearances if overlay else ())
    form_xobjects = _open_appearances(appearances, revision, max(appearance_pages) + 1)
    writer = PageWriter(revision, clean_contents=clean_contents)
    composer = DrawingComposer(form_xobjects, layers_open=may_leave_layers_open(revision))
    for page, page_marks in _pages_to_draw_on(revision, marks, everywhere=overlay is not None):
        geometry = geometry_of(revision.reader, page)
        drawing = composer.compose(geometry, page_marks, overlay)
        may_be_hidden = signed or _may_be_hidden(revision, page, geometry, page_marks, overlay)
        above = may_be_hidden or not writer.write(page, drawing)
        if above:
            drawn.widgets.append(FieldWidget(page, drawing.extent, _appearance(revision, drawing)))
        drawn.placed.append(ExpectedDrawing(page.ref, drawing, in_annotation=above, background=not page_marks))
    return drawn


def _pages_to_draw_on(
    revision: Revision, marks: Sequence[Mark], *, everywhere: bool
) -> Iterator[tuple[PageNode, list[Mark]]]:
    """Yield the marked pages, or all if ``everywhere``, each with its marks. Read the tree no further than needed."""
    by_page: dict[int, list[Mark]] = defaultdict(list)
    for mark in marks:
        by_page[mark.page_number].append(mark)
    for number, page in enumerate(pages(revision.reader), start=1):
        page_marks = by_page.pop(number, [])
        if page_marks or everywhere:
            yield page, page_marks
        if not by_page and not everywhere:
            return
    if by_page:
        raise SealError(f"A mark is placed on page {min(by_page)}, which the PDF does not have.")


def _may_be_hidden(
    revision: Revision, page: PageNode, geometry: PageGeometry, marks: Sequence[Mark], overlay: Overlay | None
) -> bool:
    boxes = annotated_areas(revision, page)
    places = [(mark.x, mark.y, mark.x + mark.width, mark.y + mark.height) for mark in marks]
    shown = [transform_box(geometry.to_user, place) for place in places] + ([geometry.visible] if overlay else [])
    return any(overlap(place, box) for place in shown for box in boxes)


def _open_appearances(appearances: bytes, revision: Revision, needed: int) -> FormXObjects:
    try:
        try:
            forms = FormXObjects(PdfReader(appearances), revision)
        except Unsafe:
            forms = FormXObjects(PdfReader(normalised(appearances)), revision)
        if len(forms) < needed:
            raise Unsafe("the appearances have too few pages")
        return forms
    except (Unsafe, UnreadablePdf) as error:
        raise SealError("The pictures of the marks cannot be read.") from error


def _appearance(revision: Revision, drawing: Drawing) -> Ref:
    resources = {b"/XObject": dict(drawing.names)}
    entries = {b"/Type": b"/XObject", b"/Subtype": b"/Form", b"/Resources": resources}
    return revision.stream(drawing.operators, {**entries, b"/BBox": [float(edge) for edge in drawing.extent]})


def annotated_areas(revision: Revision, page: PageNode) -> list[Box]:
    """Return the boxes in user space where annotations, even hidden, may draw; the whole plane if viewers choose."""
    entry = page.dictionary.get(b"/Annots")
    annotations = revision.resolve(entry)
    if annotations is None:
        return []
    if not isinstance(annotations, list):
        return [_EVERYWHERE]
    areas = [_annotated_area(revision, revision.resolve(item)) for item in annotations]
    return [box for box in areas if box is not None]


def overlap(one: Box, other: Box) -> bool:
    """Return whether two boxes share some area."""
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
    """Return whether the border has width 0; an annotation without a border entry has a border."""
    return b"/BS" not in annotation and _numbers(revision, annotation.get(b"/Border"))[2:3] == [0.0]


def _numbers(revision: Revision, value: Any) -> list[float]:
    areas = list[float]()
    array = revision.resolve(value)
    for item in array if isinstance(array, list) else ():
        number = number_of(revision.resolve(item))
        if number is None:
            break
        areas.append(number)
    return areas
