"""What the pages of a plain file draw with: the kinds of its entries (ISO 32000-1, 7.7, 8.4 to 8.11 and 12.5)."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from paraph.pdf.refusal import too_complex
from paraph.pdf.structure.contents_grammar import ContentsDecoder, glyph_begins
from paraph.pdf.structure.graphics_state import CLEAN, Ending
from paraph.pdf.structure.objects import Dictionary, PdfStream, Ref
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.unpacking import unpacked
from paraph.pdf.untrusted.jobs.upload_checks import values
from paraph.pdf.untrusted.jobs.upload_checks.annotations import annotations_of
from paraph.pdf.untrusted.jobs.upload_checks.contents import (
    OWN_SPACES,
    Looks,
    are_masks,
    are_usual_dashes,
    check_contents,
    check_settings,
    keeps_within,
    shows_text,
    used_names,
)
from paraph.pdf.untrusted.jobs.upload_checks.fonts import NOTHING, Remarks, advance_alike, check_font
from paraph.pdf.untrusted.jobs.upload_checks.images import Images, check_default, check_space, components
from paraph.pdf.untrusted.jobs.upload_checks.values import Kinds, NotPlain, Resolve, check_entries, check_stream

_MOST_READ = 128 << 20  # bytes of all contents; the sandbox bounds the time
_DEEPEST = 15  # drawings within drawings: PDFium leaves out deeper ones
_GROUP: Kinds = {b"/S": values.one_of(b"/Transparency"), b"/I": values.is_boolean, b"/K": values.is_boolean}
_DRAWING: Kinds = {b"/BBox": values.is_box, b"/Matrix": values.numbers(6), b"/Resources": values.is_dictionary}
_FORM: Kinds = {**_DRAWING, b"/FormType": values.one_of(1), b"/Group": values.is_dictionary}
_PATTERN: Kinds = {
    **_DRAWING,
    b"/PatternType": values.one_of(1),
    b"/PaintType": values.one_of(1, 2),
    b"/TilingType": values.one_of(1, 2, 3),
    **dict.fromkeys((b"/XStep", b"/YStep"), values.is_number),
}
_SHADED: Kinds = {b"/PatternType": values.one_of(2), b"/Matrix": values.numbers(6), b"/ExtGState": values.is_dictionary}
_STATE: Kinds = {
    **dict.fromkeys((b"/LW", b"/ML", b"/CA", b"/ca"), values.is_number),
    **dict.fromkeys((b"/LC", b"/LJ"), values.one_of(0, 1, 2)),
    b"/D": lambda value: (
        values.is_array(value) and len(value) == 2 and values.is_array(value[0]) and values.is_number(value[1])
    ),
    b"/Font": lambda value: values.is_array(value) and len(value) == 2 and values.is_number(value[1]),
    **dict.fromkeys((b"/SA", b"/AIS", b"/TK", b"/OP", b"/op"), values.is_boolean),
    b"/BM": values.is_name,
    b"/SMask": values.any_of(values.one_of(b"/None"), values.is_dictionary),
    b"/OPM": values.one_of(0, 1),
}
_MASK: Kinds = {b"/S": values.one_of(b"/Alpha", b"/Luminosity"), b"/G": values.is_stream, b"/BC": values.numbers()}
_DEFAULTS = (b"/DefaultGray", b"/DefaultRGB", b"/DefaultCMYK")
_TOGETHER = frozenset({"inks", "overprint"})  # neither is remarkable without the other
_BLENDS = (b"/Normal", b"/Compatible", b"/Multiply", b"/Screen", b"/Darken", b"/Lighten", b"/Overlay")
"""Modes that look the same on paper, or nearly, in whatever colour space the colours are mixed."""
_IDENTICAL = (b"/Identity", b"/Default")


class Drawn(NamedTuple):
    """What is known of something that is drawn: its ``depth``, 1 for a drawing without others in it, remarks, and
    whether it shows text. ``advance``: the width that a glyph begins with."""

    depth: int
    remarks: Remarks
    text: bool = False
    advance: float = 0.0


class Drawings:
    """A check of what pages draw, each object once."""

    def __init__(self, reader: PdfReader) -> None:
        self._reader = reader
        self._resolve = reader.resolve
        self._decoder = ContentsDecoder(_MOST_READ, _MOST_READ)
        self._images = Images(self._resolve)
        self._known: dict[tuple[bytes, Ref], Drawn | None] = {}
        self._checks = {
            b"/Font": self._font,
            b"/XObject": self._object,
            b"/ExtGState": self._state,
            b"/ColorSpace": lambda value: Drawn(0, check_space(value, reader.resolve)),
            b"/Pattern": self._pattern,
            b"/Shading": self._shading,
        }
        self._contents: dict[tuple[Any, ...], tuple[Ending, list[bytes]]] = {}

    def page(self, page: Dictionary, resources: Any) -> tuple[Ending, Remarks]:
        """Check the contents of a page and its annotations."""
        streams = self._contents_of(page)
        key = tuple(streams)
        if key not in self._contents:
            texts = self._decoded([self._resolve(each) for each in streams], "a page")
            self._contents[key] = check_contents(texts, within="a page"), texts
        found, texts = self._contents[key]
        drawn = self._uses(texts, self._resources(resources), "a page")
        group = self._resolve(page.get(b"/Group", {}))
        remarks = drawn.remarks | _knockout(group, self._resolve)
        for odd, looks in annotations_of(page, self._resolve):
            remarks |= odd.union(*(self._item(b"/XObject", look).remarks for look in looks))
        if "blend_mode" in remarks and b"/CS" in group and components(group[b"/CS"], self._resolve) == len("CMYK"):
            remarks |= {"blend_space"}
        return found, remarks - _TOGETHER | ({"ink_overprint"} if remarks >= _TOGETHER else NOTHING)

    def _contents_of(self, page: Dictionary) -> list[Ref]:
        value = page.get(b"/Contents", [])
        listed = self._resolve(value)
        streams: list[Any] = listed if type(listed) is list else [value]
        if not all(type(each) is Ref for each in streams):
            raise NotPlain("the contents of a page are no stream")
        return streams

    def _decoded(self, streams: list[Any], within: str) -> list[bytes]:
        for stream in streams:
            if type(stream) is not PdfStream:
                raise NotPlain(f"the contents of {within} are no stream")
            check_stream(stream, {}, within, self._resolve)
        texts = self._decoder.decode(streams)
        if texts is None:
            if sum(len(unpacked(stream)) for stream in streams) > _MOST_READ // 2:
                raise too_complex()
            raise NotPlain(f"the contents of {within} cannot be decoded")
        return texts

    def _resources(self, value: Any) -> Dictionary:
        resources: Any = self._resolve(value)
        if type(resources) not in (dict, type(None)):
            raise NotPlain("resources are no dictionary")
        return resources or {}

    def _uses(self, texts: Sequence[bytes], resources: Dictionary, what: str) -> Drawn:
        """Check everything that contents use. Raise NotPlain for a name that is not in the resources."""
        depth, remarks, with_text, drawn_fonts = 0, NOTHING, set[bytes](), set[bytes]()
        used = used_names(texts)
        for category, name in used:
            if category == b"/ColorSpace" and name in OWN_SPACES:
                continue
            table = self._resolve(resources.get(category))
            if type(table) is not dict or name not in table:
                raise NotPlain(f"contents use a name that is not in {category.decode()[1:]}")
            drawn = self._item(category, table[name])
            depth, remarks = max(depth, drawn.depth), remarks | drawn.remarks
            if drawn.text:
                with_text.add(name)
            if category == b"/Font" and drawn.depth:
                drawn_fonts.add(name)
        spaces = self._resolve(resources.get(b"/ColorSpace", {}))
        for name in _DEFAULTS:
            if type(spaces) is dict and name in spaces:
                remarks |= check_default(spaces[name], self._resolve)
        coloured = any(category in (b"/ColorSpace", b"/Pattern") for category, _ in used)
        looks = Looks(partial(self._components, resources), with_text, drawn_fonts, coloured=coloured)
        shows = what != "a page" and (bool(with_text) or any(map(shows_text, texts)))
        return Drawn(depth, remarks | check_settings(texts, looks, what), shows)

    def _components(self, resources: Dictionary, name: bytes) -> int | None:
        named = self._resolve(resources.get(b"/ColorSpace"))
        value = named[name] if type(named) is dict and name in named else name
        return components(value, self._resolve)

    def _item(self, category: bytes, value: Any) -> Drawn:
        if type(value) is not Ref:
            return self._found(category, value)
        key = (category, value)
        if key not in self._known:
            self._known[key] = None
            self._known[key] = self._found(category, self._resolve(value))
        drawn = self._known[key]
        if drawn is None:
            raise NotPlain("something draws itself")
        return drawn

    def _found(self, category: bytes, value: Any) -> Drawn:
        drawn = self._checks[category](value)
        if drawn.depth > _DEEPEST:
            raise NotPlain("drawings are nested too deep")
        return drawn

    def _font(self, font: Any) -> Drawn:
        if type(font) is not dict:
            raise NotPlain("a font is no dictionary")
        remarks = check_font(font, self._resolve)
        if self._resolve(font[b"/Subtype"]) != b"/Type3":
            return Drawn(0, remarks)
        resources, depth, text = self._resources(font.get(b"/Resources")), 1, False
        advances = dict[bytes, float]()
        for name, glyph in self._resolve(font[b"/CharProcs"]).items():
            drawn = self._drawing(self._resolve(glyph), resources, "a glyph")
            depth, remarks, text = max(depth, drawn.depth), remarks | drawn.remarks, text or drawn.text
            advances[name] = drawn.advance
        if not advance_alike(font, advances, self._resolve):
            remarks |= {"glyph_box"}
        return Drawn(depth, remarks, text)

    def _drawing(self, stream: Any, resources: Dictionary, what: str) -> Drawn:
        (text,) = self._decoded([stream], what)
        text, head = text + b"\n", b""  # which ends a comment
        if what == "a glyph":
            begins = glyph_begins().match(text)
            if begins is None:
                raise NotPlain("a glyph does not begin with its width")
            text, head = text[begins.end() :], begins[0]
        if check_contents([text], within=what)._replace(states=0, text=False) != CLEAN:
            raise NotPlain(f"the contents of {what} leave something open")
        drawn = self._uses([text], resources, what)
        if head:
            is_mask = head.rstrip().endswith(b"d1")
            if not keeps_within(head, text, deep=drawn.depth > 0) or (is_mask and self._has_colours(text, resources)):
                drawn = drawn._replace(remarks=drawn.remarks | {"glyph_box"})
            drawn = drawn._replace(advance=float(head.split()[0]))
        return drawn._replace(depth=drawn.depth + 1)

    def _has_colours(self, text: bytes, resources: Dictionary) -> bool:
        """Return whether an image is no mask: some readers show its colours even in a glyph that must have none."""
        named = self._resolve(resources.get(b"/XObject", {}))
        found = [self._resolve(named[name]) for category, name in used_names([text]) if category == b"/XObject"]
        images = [each.dictionary for each in found if self._resolve(each.dictionary[b"/Subtype"]) == b"/Image"]
        return not are_masks(text) or any(self._resolve(each.get(b"/ImageMask")) != b"true" for each in images)

    def _object(self, stream: Any) -> Drawn:
        kind = self._resolve(stream.dictionary.get(b"/Subtype")) if type(stream) is PdfStream else None
        if kind == b"/Image":
            return Drawn(0, self._images.check(stream))
        if kind != b"/Form" or b"/BBox" not in stream.dictionary:
            raise NotPlain("something that is drawn is neither image nor form")
        check_stream(stream, _FORM, "a form", self._resolve)
        group = self._resolve(stream.dictionary.get(b"/Group", {}))
        check_entries("a group", group, _GROUP, self._resolve)
        drawn = self._drawing(stream, self._resources(stream.dictionary.get(b"/Resources")), "a form")
        return drawn._replace(remarks=drawn.remarks | _knockout(group, self._resolve))

    def _state(self, state: Any) -> Drawn:
        if type(state) is not dict:
            raise NotPlain("a graphics state is no dictionary")
        resolve = self._resolve
        check_entries("a graphics state", state, _STATE, resolve)
        functions = [state.get(key, b"/Identity") for key in (b"/TR", b"/TR2")]
        remarks, depth, mask = NOTHING, 0, resolve(state.get(b"/SMask"))
        if type(mask) is dict:
            check_entries("a mask", mask, _MASK, resolve)
            drawn = self._item(b"/XObject", mask.get(b"/G"))
            depth, remarks = drawn.depth, drawn.remarks | {"soft_mask"}
            functions.append(mask.get(b"/TR", b"/Identity"))
        if b"/Font" in state:  # which some readers apply, and others do not
            remarks |= self._item(b"/Font", resolve(state[b"/Font"])[0]).remarks | {"state_font"}
        dashes, phase = resolve(state.get(b"/D", [[], 0]))
        found = {
            "transfer_function": any(resolve(each) not in _IDENTICAL for each in functions),
            "blend_mode": resolve(state.get(b"/BM", b"/Normal")) not in _BLENDS,
            "overprint": b"true" in (resolve(state.get(b"/OP")), resolve(state.get(b"/op"))),
            "line_width": float(resolve(state.get(b"/LW", 1))) < 0,
            "dashes": not are_usual_dashes([float(resolve(each)) for each in resolve(dashes)], float(phase)),
        }
        return Drawn(depth, remarks.union(name for name, is_there in found.items() if is_there))

    def _pattern(self, pattern: Any) -> Drawn:
        if type(pattern) is PdfStream:
            check_stream(pattern, _PATTERN, "a pattern", self._resolve)
            if not all(key in pattern.dictionary for key in _PATTERN if key != b"/Matrix"):
                raise NotPlain("a pattern lacks an entry")
            drawn = self._drawing(pattern, self._resources(pattern.dictionary[b"/Resources"]), "a pattern")
            return Drawn(drawn.depth, drawn.remarks | {"pattern"})
        if type(pattern) is not dict or self._resolve(pattern.get(b"/PatternType")) != 2:
            raise NotPlain("a pattern is of an unknown kind")
        check_entries("a pattern", pattern, _SHADED, self._resolve)
        return self._shading(self._resolve(pattern.get(b"/Shading")))

    def _shading(self, value: Any) -> Drawn:
        entries = value.dictionary if type(value) is PdfStream else value
        if type(entries) is not dict or self._resolve(entries.get(b"/ShadingType")) not in range(1, 8):
            raise NotPlain("a shading is odd")
        return Drawn(0, check_space(entries.get(b"/ColorSpace"), self._resolve) | {"shading"})


def _knockout(group: Dictionary, resolve: Resolve) -> Remarks:
    return frozenset({"knockout"}) if resolve(group.get(b"/K")) == b"true" else NOTHING
