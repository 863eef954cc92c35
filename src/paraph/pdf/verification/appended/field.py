"""The field, widgets and value of one signature or document timestamp that an update may add (ISO 32000-2, 12.7.5.5,
12.8.1 and 12.8.5), and the defaults for drawing fields that the form may gain with it (12.7.3), where nothing would be
drawn by them: two fonts, and forms that draw nothing.
"""

import math
import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from paraph.pdf.structure.objects import Dictionary, PdfStream, Ref, number_of
from paraph.pdf.structure.pages import pages
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.signature_fields import SignedField, form_fields, text_of_string
from paraph.pdf.structure.unpacking import unpacked
from paraph.pdf.verification.appended.view import NotPermitted, Update, check_keys, check_same, is_plain, meaning

_FONTS = {b"/Helv": b"/Helvetica", b"/ZaDb": b"/ZapfDingbats"}
_FONT = frozenset({b"/Type", b"/Subtype", b"/BaseFont", b"/Name", b"/Encoding"})
_ENCODINGS = (None, b"/WinAnsiEncoding", b"/PDFDocEncoding", b"/StandardEncoding")
_OF_A_SIGNATURE = re.compile(rb"/FRM\d*")
_NOTHING = re.compile(rb"(?:[\t\n\r ]|%[^\r\n]*+(?:[\r\n]|\Z)|q\b|Q\b|1 0 0 1 0 0 cm\b|/[A-Za-z]+\d* Do\b)*+")
_DRAWN = re.compile(rb"(/[A-Za-z]+\d*) Do\b")
_DEEPEST_FORM, _LARGEST_FORM = 4, 4096
_MOST_FIELDS = 10_000
_APPEARANCE = re.compile(rb"\(/Helv 0 Tf 0 g ?\)")
_FIELD = frozenset({b"/FT", b"/T", b"/TU", b"/V", b"/DR"})
_ANNOTATION = frozenset({b"/Type", b"/Subtype", b"/F", b"/Rect", b"/P"})
_KID = _ANNOTATION | {b"/AP", b"/Parent", b"/FT", b"/V"}
_VALUE = frozenset({b"/Type", b"/Filter", b"/SubFilter", b"/Contents", b"/ByteRange"})
_STATED_BY_TIMESTAMPS = frozenset({b"/M", b"/Prop_Build"})
_STATED = _STATED_BY_TIMESTAMPS | {b"/Name", b"/Reason", b"/Location", b"/ContactInfo"}
_NOT_DRAWN_BY_ALL = frozenset({b"/OC", b"/Ref", b"/OPI", b"/Alternates"})
"""What lets some readers leave a drawing out, or draw something else in its place, on paper as well."""
_LAYERS = (b"/OCG", b"/OCMD")
_PRINTED, _READ_ONLY, _LOCKED, _LOCKED_CONTENTS = 4, 64, 128, 512
_ALWAYS_SHOWN = _PRINTED | _READ_ONLY | _LOCKED | _LOCKED_CONTENTS
_LONGEST_NAME = 127
_MOST_WIDGETS = 4000
_DEEPEST = 60


def check_defaults(update: Update, old: Dictionary, new: Dictionary) -> frozenset[bytes]:
    """Return which defaults the form gained. Raise :class:`NotPermitted` for any that an update may not add."""
    appearance = new.get(b"/DA")
    gained = set[bytes]()
    if b"/DA" in new and b"/DA" not in old:
        if not isinstance(appearance, bytes) or not _APPEARANCE.fullmatch(appearance):
            raise NotPermitted("the form gained an odd default appearance")
        gained.add(b"/DA")
    if b"/DR" in new and meaning(new[b"/DR"]) != meaning(old.get(b"/DR")):
        before, after = update.was(old.get(b"/DR", {})), update.dictionary(new[b"/DR"], "the form's resources")
        check_same("the form's resources", before, after, frozenset({b"/Font", b"/XObject"}))
        _check_forms(update, update.was(before.get(b"/XObject", {})), update.now(after.get(b"/XObject", {})))
        _check_fonts(update, update.was(before.get(b"/Font", {})), update.now(after.get(b"/Font", {})))
        gained.add(b"/DR")
    if gained and uses_defaults(update.before):
        raise NotPermitted("the form gained defaults, by which fields or comments may be drawn anew")
    return frozenset(gained)


def uses_defaults(file: PdfReader) -> bool:
    """Return whether a file has a field that is no signature, or a comment, that readers may draw by the defaults of
    its form. Raise :class:`~paraph.pdf.structure.objects.Unsafe`."""
    form = file.resolve(file.dictionary(file.trailer.get(b"/Root")).get(b"/AcroForm"))
    waiting = [*_listed(file, form.get(b"/Fields") if isinstance(form, dict) else None)]
    for annotation in (each for page in pages(file) for each in _listed(file, page.dictionary.get(b"/Annots"))):
        subtype = file.resolve(file.dictionary(annotation).get(b"/Subtype"))
        if subtype == b"/FreeText":
            return True
        waiting += [annotation] if subtype == b"/Widget" else []
    seen = set[Ref]()
    while waiting:
        value = waiting.pop()
        if type(value) is Ref:
            if value in seen:
                continue
            seen.add(value)
        field = file.dictionary(value)
        kids = _listed(file, field.get(b"/Kids"))
        if len(seen) > _MOST_FIELDS or (not kids and _kind(file, field) != b"/Sig"):
            return True
        waiting += kids
    return False


def _kind(file: PdfReader, field: Dictionary) -> Any:
    """Return the /FT of a field or widget, which it may inherit."""
    for _ in range(_DEEPEST_FORM):
        if b"/FT" in field or b"/Parent" not in field:
            break
        field = file.dictionary(field[b"/Parent"])
    return file.resolve(field.get(b"/FT"))


def _listed(file: PdfReader, value: Any) -> list[Any]:
    found = file.resolve(value)
    return found if isinstance(found, list) else []


def draws_nothing(update: Update, ref: Any, depth: int = 0) -> bool:
    """Return whether a new form draws nothing but other forms that draw nothing."""
    form = update.stream(ref, "a form")
    contents = unpacked(form, _LARGEST_FORM)
    if depth > _DEEPEST_FORM or not _NOTHING.fullmatch(contents):
        return False
    inner = update.now(update.now(form.dictionary.get(b"/Resources", {})).get(b"/XObject", {}))
    if not inner.keys() >= set(_DRAWN.findall(contents)):
        return False  # some readers look for the missing forms in the page's resources
    return form.dictionary.get(b"/Subtype") == b"/Form" and all(
        update.is_new(each) and draws_nothing(update, each, depth + 1) for each in inner.values()
    )


def _check_forms(update: Update, old: Any, new: Any) -> None:
    """Check the forms from which programs build what a signature shows."""
    changed = frozenset(name for name in new if meaning(new[name]) != meaning(old.get(name)))
    check_same("the form's resources", old, new, changed)
    is_harmless = update.is_new if update.lenient else partial(draws_nothing, update)
    if not all(_OF_A_SIGNATURE.fullmatch(name) and is_harmless(new[name]) for name in changed):
        raise NotPermitted("the form gained something to draw")


def _check_fonts(update: Update, old: Any, new: Any) -> None:
    check_same("the form's fonts", old, new, frozenset(_FONTS.keys() - old.keys()))
    for name in new.keys() - old.keys():
        font = update.dictionary(new[name], "a font of the form")
        check_keys("a font of the form", font, _FONT)
        kind = (font.get(b"/Type"), font.get(b"/Subtype"), font.get(b"/BaseFont"))
        if kind != (b"/Font", b"/Type1", _FONTS[name]) or not is_plain(font):
            raise NotPermitted("the form gained a font of another kind")
        if font.get(b"/Encoding") not in _ENCODINGS or font.get(b"/Name", name) != name:
            raise NotPermitted("the form gained a font of another kind")


@dataclass(frozen=True)
class AddedField:
    """``widgets``: each with its rectangle on the page in user space; ``None`` where it shows nothing."""

    widgets: dict[Ref, tuple[float, ...] | None]
    pages: dict[Ref, Any]
    """The page that each widget names, if it does."""


def check_field(update: Update, ref: Any, signature: SignedField) -> AddedField:
    """Return the field that an update adds for ``signature``. Raise :class:`NotPermitted` for anything but a plain
    one: a document timestamp shows nothing, a signature at most a picture of its own, with nothing that acts."""
    if not update.is_new(ref):
        raise NotPermitted("the form gained a field that is no new one")
    field = update.dictionary(ref, "the new field")
    is_parent = b"/Kids" in field and not signature.is_document_timestamp
    check_keys("the new field", field, _FIELD | ({b"/Kids"} if is_parent else _ANNOTATION | {b"/AP"}))
    if field.get(b"/DR", {}) != {}:
        raise NotPermitted("the new field has resources of its own")
    if field.get(b"/FT") != b"/Sig":
        raise NotPermitted("the new field is none for a signature")
    _check_name(update, field)
    _check_value(update, field.get(b"/V"), signature)
    if not is_parent:
        return AddedField({ref: _widget(update, field, signature)}, {ref: field.get(b"/P")})
    kids = update.now(field[b"/Kids"])
    if not isinstance(kids, list) or not 0 < len(kids) <= _MOST_WIDGETS or len({*map(str, kids)}) != len(kids):
        raise NotPermitted("the new field has odd widgets")
    widgets, named = dict[Ref, tuple[float, ...] | None](), dict[Ref, Any]()
    for kid in kids:
        widget = update.dictionary(kid, "a widget") if update.is_new(kid) else {}
        check_keys("a widget of the new field", widget, _KID)
        if widget.get(b"/Parent") != ref or widget.get(b"/V", field[b"/V"]) != field[b"/V"]:
            raise NotPermitted("a widget belongs to another field")
        if widget.get(b"/FT", b"/Sig") != b"/Sig":
            raise NotPermitted("a widget is none of a signature")
        widgets[kid], named[kid] = _widget(update, widget, signature), widget.get(b"/P")
    return AddedField(widgets, named)


def _check_name(update: Update, field: Dictionary) -> None:
    name = text_of_string(field.get(b"/T"))
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable() or "." in name:
        raise NotPermitted("the new field has no plain name")
    root = update.before.dictionary(update.before.trailer.get(b"/Root"))
    form = update.before.dictionary(root.get(b"/AcroForm"))
    fields = form_fields(update.was, update.was(form.get(b"/Fields")))
    if name.casefold() in {text_of_string(update.was(each.get(b"/T"))).casefold() for each in fields}:
        raise NotPermitted("the new field has the name of another one")
    hint = field.get(b"/TU", b"()")
    if not isinstance(hint, bytes) or hint[:1] not in (b"(", b"<") or len(text_of_string(hint)) > _LONGEST_NAME:
        raise NotPermitted("the new field has an odd description")


def _check_value(update: Update, ref: Any, signature: SignedField) -> None:
    value = update.dictionary(ref, "the new signature") if update.is_new(ref) else {}
    check_keys(
        "the new signature", value, _VALUE | (_STATED_BY_TIMESTAMPS if signature.is_document_timestamp else _STATED)
    )
    allowed = (b"/Sig", b"/DocTimeStamp") if signature.is_document_timestamp else (b"/Sig",)
    if value.get(b"/Type") not in allowed or value.get(b"/Filter") != b"/Adobe.PPKLite" or not is_plain(value):
        raise NotPermitted("the new signature is not written plainly")
    if value.get(b"/ByteRange") != list(signature.byte_range):
        raise NotPermitted("the new signature is another one than the file seems to have")
    contents = meaning(value.get(b"/Contents"))
    if contents != ("string", signature.contents) or any(
        not isinstance(value[key], bytes) for key in value.keys() - {b"/ByteRange", b"/Prop_Build"}
    ):
        raise NotPermitted("the new signature is another one than the file seems to have")


def _widget(update: Update, widget: Dictionary, signature: SignedField) -> tuple[float, ...] | None:
    """Return where the widget shows its picture, ``None`` where it shows none."""
    if widget.get(b"/Subtype") != b"/Widget" or widget.get(b"/Type", b"/Annot") != b"/Annot":
        raise NotPermitted("a widget is none")
    numbers = [number_of(edge) for edge in widget.get(b"/Rect") or ()] if isinstance(widget.get(b"/Rect"), list) else []
    rectangle = tuple(edge for edge in numbers if edge is not None)
    if len(rectangle) != 4 or len(numbers) != 4:
        raise NotPermitted("a widget does not say plainly where it is")
    flags, shows = widget.get(b"/F", 0), b"/AP" in widget
    if type(flags) is not int or flags & ~_ALWAYS_SHOWN:
        raise NotPermitted("a widget is shown to some readers alone")
    if not shows:
        if any(edge or math.copysign(1, edge) < 0 for edge in rectangle):
            raise NotPermitted(
                "a document timestamp takes room on a page"
                if signature.is_document_timestamp
                else "a widget takes room on a page and shows nothing"
            )
        return None
    appearance = update.now(widget[b"/AP"])
    if not isinstance(appearance, dict) or appearance.keys() != {b"/N"}:
        raise NotPermitted("a widget has more than one appearance")
    picture = update.stream(appearance[b"/N"], "an appearance")
    if picture.dictionary.get(b"/Subtype") != b"/Form":
        raise NotPermitted("an appearance is no drawing")
    _check_drawn(update, picture, 0)
    if draws_nothing(update, appearance[b"/N"]):
        return None
    if signature.is_document_timestamp:
        raise NotPermitted("a document timestamp shows something")
    return rectangle


def _check_drawn(update: Update, value: Any, depth: int) -> None:
    """Account for everything that an appearance draws with, all of which must be new."""
    if depth > _DEEPEST:
        raise NotPermitted("an appearance is nested too deeply")
    if type(value) is Ref:
        if not update.is_new(value):
            raise NotPermitted("an appearance draws with objects that it did not bring along")
        if not update.is_accounted(value):
            _check_drawn(update, update.account(value), depth + 1)
        return
    if isinstance(value, PdfStream):
        if _NOT_DRAWN_BY_ALL & meaning(value.dictionary).keys():
            raise NotPermitted("an appearance is not the same for all readers")
        value = value.dictionary
    if isinstance(value, dict) and value.get(b"/Type") in _LAYERS:
        raise NotPermitted("an appearance has layers")
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_drawn(update, item, depth + 1)
