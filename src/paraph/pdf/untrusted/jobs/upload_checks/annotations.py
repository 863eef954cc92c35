"""The annotations of a plain file, and for which of them readers draw different things (ISO 32000-2, 12.5 and 12.7).

Readers agree on an annotation with a normal appearance, but for a few kinds that PDFium or poppler leave out; without
one, each reader makes its own, or none. What is not known to be drawn alike is disputed.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from paraph.pdf.structure.objects import Dictionary, PdfStream, Ref, number_of
from paraph.pdf.structure.pages import Box
from paraph.pdf.untrusted.jobs.upload_checks import values
from paraph.pdf.untrusted.jobs.upload_checks.fonts import Remarks
from paraph.pdf.untrusted.jobs.upload_checks.values import Kinds, NotPlain, Resolve, check_entries, is_blank

_ANNOTATION: Kinds = {
    b"/Subtype": values.is_name,
    b"/AS": values.is_name,
    b"/Rect": values.is_box,
    b"/F": values.is_natural,
    **dict.fromkeys((b"/AP", b"/BS", b"/MK", b"/OC"), values.is_dictionary),
    **dict.fromkeys((b"/Border", b"/InkList"), values.is_array),
    **dict.fromkeys((b"/C", b"/IC"), values.numbers(0, 1, 3, 4)),
    **dict.fromkeys((b"/QuadPoints", b"/Vertices"), values.numbers()),
    **dict.fromkeys((b"/L", b"/RD"), values.numbers(4)),
    b"/CA": values.is_number,
}
FIELD: Kinds = {
    b"/FT": values.one_of(b"/Tx", b"/Btn", b"/Ch", b"/Sig"),
    **dict.fromkeys((b"/Ff", b"/MaxLen"), values.is_natural),
    b"/Q": values.one_of(0, 1, 2),
    b"/DA": values.is_string,
    b"/Kids": values.is_array,
    b"/Parent": values.is_dictionary,
}
_PASSWORD = 1 << 13  # the flag of a field whose text some readers show as stars
_HARDLY_SEEN = 0.1  # opacity, which some readers apply to an appearance and others do not
_MARKUP = frozenset({b"/Highlight", b"/Underline", b"/StrikeOut", b"/Squiggly"})


def annotations_of(page: Dictionary, resolve: Resolve) -> Iterator[tuple[Remarks, list[Any]]]:
    """Yield what readers may draw differently in each annotation of a page, by its entries alone, and all appearances
    that it has. Raise NotPlain."""
    listed = resolve(page.get(b"/Annots", []))
    if type(listed) is not list:
        raise NotPlain("the annotations of a page are no array")
    for entries in map(resolve, listed):
        if type(entries) is not dict:
            raise NotPlain("an annotation is no dictionary")
        check_entries("an annotation", entries, _ANNOTATION, resolve)
        if b"/Subtype" not in entries or b"/Rect" not in entries:
            raise NotPlain("an annotation lacks an entry")
        kind, looks, found = resolve(entries[b"/Subtype"]), list(_looks(entries, resolve)), set[str]()
        if kind == b"/Widget":
            check_entries("a form field", entries, FIELD, resolve)
            if resolve(entries.get(b"/Ff", 0)) & _PASSWORD and b"/V" in entries:
                found.add("password_field")
        if looks and kind in _MARKUP and float(resolve(entries.get(b"/CA", 1))) <= _HARDLY_SEEN:
            found.add("annotation_alpha")
        if _is_empty(resolve(entries[b"/Rect"])) and not all(_is_blank(look, resolve) for look in looks):
            found.add("annotation_place")
        yield frozenset(found), looks


def _looks(annotation: Dictionary, resolve: Resolve) -> Iterator[Any]:
    for value in resolve(annotation.get(b"/AP", {})).values():
        states = resolve(value)
        if type(states) is dict:
            yield from states.values()
        elif type(states) is PdfStream:
            yield value
        else:
            raise NotPlain("an annotation has an odd appearance")


def _is_blank(look: Any, resolve: Resolve) -> bool:
    """Return whether an appearance shows nothing, like that of an invisible signature."""
    form = resolve(look)
    return _is_empty(resolve(form.dictionary[b"/BBox"])) or is_blank(form)


def _is_empty(box: list[Any]) -> bool:
    return float(box[0]) == float(box[2]) or float(box[1]) == float(box[3])


_INVISIBLE, _NO_ZOOM, _NO_ROTATE = 1, 1 << 3, 1 << 4
_RADIO, _PUSH_BUTTON = 1 << 15, 1 << 16
_ICONS = frozenset({b"/Text", b"/FileAttachment", b"/Sound"})
_LARGEST_ICON = 40.0  # points
_NEEDED = {  # entries without which some readers ignore the annotation, whatever its appearance
    **dict.fromkeys((b"/Polygon", b"/PolyLine"), (b"/Vertices",)),
    **dict.fromkeys(_MARKUP, (b"/QuadPoints",)),
    b"/FileAttachment": (b"/FS",),
}
_LEFT_OUT = frozenset({b"", b"/Popup", b"/Sound", b"/Movie"})  # by PDFium or by poppler, appearance or not
_SHOWING_NOTHING = (b"/Popup", b"/Watermark", b"/PrinterMark", b"/TrapNet", b"/Projection")
_LIGHT = 0.4  # of 1: letters stay legible under a highlight of this brightness
_LUMINANCE = (0.3, 0.59, 0.11)
_HIDDEN, _PRINT, _NO_VIEW, _TOGGLE_NO_VIEW = 1 << 1, 1 << 2, 1 << 5, 1 << 8
_DEEPEST = 32  # ancestors of a form field


class AnnotationValues:
    """An annotation of a file in plain form, whose entries are of the kinds that they need; or a dictionary in it."""

    def __init__(self, resolve: Callable[[Any], Any], entries: Dictionary) -> None:
        self.resolve, self._entries = resolve, entries

    def get(self, key: bytes) -> Any:
        return self.resolve(self._entries.get(key))

    def has(self, *keys: bytes) -> bool:
        return any(self.get(key) is not None for key in keys)

    def reference(self, key: bytes) -> Ref | None:
        """Return what an entry refers to, unresolved."""
        value = self._entries.get(key)
        return value if type(value) is Ref else None

    def dictionary(self, key: bytes) -> "AnnotationValues":
        """Return a dictionary among the entries, an empty one where there is none."""
        return AnnotationValues(self.resolve, self.get(key) or {})

    def numbers(self, key: bytes) -> list[float] | None:
        """Return an array of numbers; ``None`` for anything else."""
        return self._numbers(self.get(key))

    def inherited(self, key: bytes) -> Any:
        """Return the entry of a form field or of its nearest ancestor that has it."""
        entries = self._entries
        for _ in range(_DEEPEST):
            if (value := self.resolve(entries.get(key))) is not None:
                return value
            entries = self.resolve(entries.get(b"/Parent")) or {}
        return None

    @property
    def subtype(self) -> bytes:
        return bytes(self.get(b"/Subtype"))

    @property
    def flags(self) -> int:
        return self.get(b"/F") or 0

    @property
    def is_hidden(self) -> bool:
        """Whether it is neither on the screen nor in print, to every reader."""
        if self.flags & _HIDDEN:
            return True
        return bool(self.flags & _NO_VIEW) and not self.flags & (_PRINT | _TOGGLE_NO_VIEW)

    @property
    def normal_appearances(self) -> Any:
        """The stream or the dictionary of states behind /AP /N; ``None`` without /AP, 0 where /AP lacks /N."""
        return self.dictionary(b"/AP").get(b"/N") or 0 if self.has(b"/AP") else None

    @property
    def shows_something(self) -> bool:
        """Whether there is anything in an appearance."""
        found = self.normal_appearances
        streams = [found] if isinstance(found, PdfStream) else map(self.resolve, (found or {}).values())
        return not all(map(is_blank, streams))

    @property
    def area(self) -> Box | None:
        """What it may draw on: its rectangle and the points of its lines, in user space. ``None`` without area."""
        points = list[float]()
        for key in (b"/Rect", b"/L", b"/Vertices", b"/QuadPoints", b"/CL"):
            points += self.numbers(key) or []
        for ink in self.get(b"/InkList") or []:
            points += self._numbers(self.resolve(ink)) or []
        xs, ys = points[::2], points[1::2]
        return (min(xs), min(ys), max(xs), max(ys)) if len(xs) == len(ys) else None

    def _numbers(self, value: Any) -> list[float] | None:
        listed = value if isinstance(value, list) else [None]
        found = [number for item in listed if (number := number_of(self.resolve(item))) is not None]
        return found if len(found) == len(listed) else None


class Settings(NamedTuple):
    """Settings of the file. ``drawn_anew``: it asks readers to make the appearances of its fields themselves.
    ``default``: it names a font for all fields. ``layers_off``: the layers that are not shown, ``None`` for all."""

    drawn_anew: bool
    default: bool
    layers_off: frozenset[Ref] | None


def is_disputed(annotation: AnnotationValues, settings: Settings, *, turned: bool) -> bool:
    """Return whether other readers may differ from PDFium, borders of links aside. ``turned``: the page is rotated."""
    subtype, appearances = annotation.subtype, annotation.normal_appearances
    if annotation.is_hidden:
        return False
    if subtype == b"/Widget":
        return _field_is_disputed(annotation, appearances, settings)
    if not appearances:
        if subtype == b"/Link" or (subtype == b"/Popup" and appearances is None):
            return False
        made_alike = subtype in _ALIKE and _ALIKE[subtype](annotation)
        return appearances is not None or not made_alike or _is_in_layer(annotation, settings)
    if subtype in _LEFT_OUT or not annotation.has(*_NEEDED.get(subtype, (b"/Rect",))):
        return True
    may_be_left_out = subtype == b"/Link" or annotation.flags & _INVISIBLE  # by MuPDF
    is_for_print = annotation.flags & _NO_VIEW  # which the comparison with the print reports
    return (
        (may_be_left_out and not is_for_print and annotation.shows_something)
        or _is_in_layer(annotation, settings)
        or _is_fixed(subtype, annotation, turned=turned)
        or (isinstance(appearances, dict) and annotation.get(b"/AS") not in appearances)
    )


def _is_in_layer(annotation: AnnotationValues, settings: Settings) -> bool:
    """Return whether other readers may hide the annotation with its layer; PDFium ignores layers of annotations."""
    layer = annotation.reference(b"/OC")
    if layer is None and not annotation.has(b"/OC"):
        return False
    is_plain = layer is not None and annotation.dictionary(b"/OC").get(b"/Type") == b"/OCG"
    return not is_plain or settings.layers_off is None or layer in settings.layers_off


def _is_fixed(subtype: bytes, annotation: AnnotationValues, *, turned: bool) -> bool:
    """Return whether the annotation does not zoom or turn with the page; small icons do not count."""
    if not annotation.flags & (_NO_ZOOM | (_NO_ROTATE if turned else 0)):
        return False
    left, bottom, right, top = annotation.area or (0, 0, 0, 0)
    return subtype not in _ICONS or max(right - left, top - bottom) > _LARGEST_ICON


def _shape(annotation: AnnotationValues) -> bool:
    return not annotation.has(b"/RD", b"/BE") and _colour(annotation, b"/C") and _colour(annotation, b"/IC")


def _ink(annotation: AnnotationValues) -> bool:
    width, border = number_of(annotation.dictionary(b"/BS").get(b"/W")), annotation.numbers(b"/Border") or []
    return bool(annotation.get(b"/InkList")) and _colour(annotation, b"/C") and width != 0 and border[2:3] != [0]


def _line_of_text(annotation: AnnotationValues) -> bool:
    return _along_lines(annotation) and _colour(annotation, b"/C")


def _highlight(annotation: AnnotationValues) -> bool:
    colour = annotation.numbers(b"/C") or []
    if len(colour) not in (1, 3):
        return False
    light = colour[0] if len(colour) == 1 else sum(map(float.__mul__, _LUMINANCE, colour))
    return light >= _LIGHT and _along_lines(annotation)


def _along_lines(annotation: AnnotationValues) -> bool:
    """Return whether the quadrilaterals are upright, in an order that all readers take for the same rectangle."""
    points = annotation.numbers(b"/QuadPoints") or []
    quads = [points[start : start + 8] for start in range(0, len(points), 8)]
    return bool(quads) and all(
        len(quad) == 8 and (quad[0], quad[2], quad[1], quad[5]) == (quad[4], quad[6], quad[3], quad[7])
        for quad in quads
    )


def _colour(annotation: AnnotationValues, key: bytes) -> bool:
    return not annotation.has(key) or len(annotation.numbers(key) or []) in (1, 3, 4)


_ALIKE: dict[bytes, Callable[[AnnotationValues], bool]] = {
    **dict.fromkeys(_SHOWING_NOTHING, lambda _: True),
    **dict.fromkeys((b"/Screen", b"/3D", b"/RichMedia"), lambda media: not media.has(b"/MK")),  # before they are played
    **dict.fromkeys((b"/Square", b"/Circle"), _shape),
    **dict.fromkeys((b"/Underline", b"/Squiggly", b"/StrikeOut"), _line_of_text),
    b"/Ink": _ink,
    b"/Highlight": _highlight,
}


def _field_is_disputed(field: AnnotationValues, appearances: object, settings: Settings) -> bool:
    kind, looks = field.inherited(b"/FT"), field.dictionary(b"/MK")
    has_own_look = looks.has(b"/BG", b"/BC") or (looks.has(b"/I") and appearances is None)
    draws = bool(appearances) or has_own_look
    if kind not in (b"/Tx", b"/Ch", b"/Btn", b"/Sig") or field.flags & _INVISIBLE or _is_in_layer(field, settings):
        return draws
    if kind == b"/Sig":
        # MuPDF shows a picture of its own for a field that is not signed.
        is_shown_otherwise = field.shows_something and field.inherited(b"/V") is None
        return (has_own_look and (not appearances or settings.drawn_anew)) or is_shown_otherwise
    if kind == b"/Btn":
        return _button_is_disputed(field, appearances, has_own_look=has_own_look)
    has_value = field.inherited(b"/V") not in (None, b"()", b"<>") or (kind == b"/Ch" and field.has(b"/Opt"))
    if appearances is not None and not appearances:
        return has_own_look or has_value
    is_made = appearances is None or settings.drawn_anew
    if kind == b"/Ch" and is_made and field.has(b"/V", b"/I") and (field.has(b"/I") or _has_pairs(field)):
        return True
    has_font = settings.default or field.inherited(b"/DA") is not None
    return has_value and not has_font and is_made


def _has_pairs(field: AnnotationValues) -> bool:
    """Return whether a choice field has options whose shown text is not the value that they stand for."""
    options = field.inherited(b"/Opt")
    return isinstance(options, list) and any(isinstance(field.resolve(each), list) for each in options)


def _button_is_disputed(field: AnnotationValues, appearances: object, *, has_own_look: bool) -> bool:
    flags = field.inherited(b"/Ff") or 0
    if flags & _PUSH_BUTTON:
        has_caption = appearances is None and field.dictionary(b"/MK").has(b"/CA")  # which poppler leaves out
        return has_caption or (appearances is not None and not appearances and has_own_look)
    if not appearances:  # one reader draws a circle, another a square
        return has_own_look and (appearances is not None or bool(flags & _RADIO))
    if not isinstance(appearances, dict):
        return bool(appearances)  # PDFium wants states
    return bool(appearances) and field.get(b"/AS") not in (*appearances, b"/Off")


def border_of_link(annotation: AnnotationValues) -> list[Box]:
    """Return the strips that other readers fill around a link; PDFium draws none. Empty without a border."""
    style, border = number_of(annotation.dictionary(b"/BS").get(b"/W")), annotation.numbers(b"/Border") or []
    width = max([*border[2:3], *([] if style is None else [style])], default=1.0)  # the larger one, if there are two
    transparent = annotation.numbers(b"/C") == []
    if annotation.subtype != b"/Link" or annotation.is_hidden or not width or transparent:
        return []
    x, y, other_x, other_y = annotation.numbers(b"/Rect") or (0, 0, 0, 0)
    left, right, bottom, top = min(x, other_x), max(x, other_x), min(y, other_y), max(y, other_y)
    half = width / 2  # some draw it inside the rectangle, others half outside
    return [
        (left - half, bottom - half, right + half, bottom + width),
        (left - half, top - width, right + half, top + half),
        (left - half, bottom - half, left + width, top + half),
        (right - width, bottom - half, right + half, top + half),
    ]
