"""The signature fields of a form (ISO 32000-1, 12.7.4.5 and 12.8): those with a value, as our own reader finds them,
and the one that a seal adds. Nothing is verified here.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain, count
from typing import Any

from pyhanko.pdf_utils.generic import ByteStringObject, parse_pdf_date, pdf_string

from paraph.pdf.structure.encryption import string_bytes
from paraph.pdf.structure.objects import CONFUSED, Dictionary, Ref, Unsafe, text_string
from paraph.pdf.structure.pages import Box, PageNode
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision
from paraph.pdf.verdict import or_else

TIMESTAMP = b"/ETSI.RFC3161"
"""The /SubFilter of a document timestamp. Some programs call it a /Sig all the same (ETSI EN 319 142-1 §5.4.3)."""
_SIGNED_DATA = bytes.fromhex("2a864886f70d010702")
"""The object identifier of SignedData, which every CMS holds in this form."""
_END = re.compile(rb"startxref\s+\d+\s+%%EOF\s*\Z")
_LONGEST_END = 256
_DEEPEST, _DEEPEST_NAMED = 32, 60
_LONGEST_NAME = 127
_READ = (b"/Type", b"/SubFilter", b"/ByteRange", b"/Contents", b"/M")
SEAL, ARCHIVE_TIMESTAMP = "Seal", "Archive timestamp"
_PRINT_AND_LOCKED = 4 + 128
_SIGNATURES_EXIST_APPEND_ONLY = 3


@dataclass(frozen=True)
class SignedField:
    """A signed field. ``fault`` tells why the signature cannot be judged; without one, all other values are set.
    ``order``: higher for signatures in newer revisions; ``place``: the byte at which the object that holds it stands;
    ``blank``: no program can find a signature in it; ``unsigned``: it is blank and lacks even the entries of one."""

    name: str
    order: int
    fault: str = ""
    is_document_timestamp: bool = False
    sub_filter: str = ""
    byte_range: tuple[int, ...] = ()
    contents: bytes = b""
    claimed_at: datetime | None = None
    place: int = 0
    blank: bool = False
    unsigned: bool = False

    @property
    def end(self) -> int:
        return self.byte_range[2] + self.byte_range[3]


def signed_fields(reader: PdfReader) -> list[SignedField]:
    """Return the signed fields in the order of their revisions. Raise :class:`Unsafe` if the file has no catalog."""
    root_ref = reader.trailer.get(b"/Root")
    root = reader.dictionary(root_ref)
    try:
        form = reader.resolve(root.get(b"/AcroForm"))
        entry = form.get(b"/Fields") if isinstance(form, dict) else None
        fields = reader.resolve(entry)
    except (Unsafe, *CONFUSED):
        return [SignedField("", reader.size, "the form of the file cannot be read")]
    place = max(place_of(reader, ref, 0) for ref in (root_ref, root.get(b"/AcroForm"), entry))
    found = list(_Walk(reader).below(fields, _Inherited(place)))
    ends = {field.end for field in found if not field.fault and ends_revision(reader.data, field.end)}
    # Position alone does not order direct fields: they stand in the form, which every seal rewrites.
    ordered = [replace(field, order=sum(end <= field.order for end in ends)) for field in found]
    # A field that cannot be judged precedes the signature whose revision contains it.
    return sorted(ordered, key=lambda field: (field.order, not field.fault))


def ends_revision(data: bytes, end: int) -> bool:
    """Return whether a revision may end at byte ``end``."""
    return 0 < end <= len(data) and _END.search(data, max(0, end - _LONGEST_END), end) is not None


def text_of_string(value: Any) -> str:
    """Return the text that a string token denotes; empty for anything else."""
    if not isinstance(value, bytes) or value[:1] not in (b"(", b"<"):
        return ""
    text = pdf_string(string_bytes(value))
    return text.decode("latin-1") if isinstance(text, ByteStringObject) else str(text)


def printable(text: str) -> str:
    """Return ``text`` on one line and truncated."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text[:_LONGEST_NAME])


@or_else(None)  # pyHanko raises errors of its own, and others over impossible numbers
def date_of(text: str) -> datetime | None:
    """Parse a date string (ISO 32000-1, 7.9.4), as UTC if it names no zone; ``None`` if it is malformed."""
    moment: datetime = parse_pdf_date(text, strict=False)
    return moment.replace(tzinfo=moment.tzinfo or UTC)


def place_of(reader: PdfReader, value: Any, around: int) -> int:
    """Return the byte offset of the object that ``value`` refers to; a direct object stands ``around``."""
    if type(value) is not Ref:
        return around
    try:
        entry = reader.crossreference.entry(value.number)
        if entry is not None and entry.packed:
            entry = reader.crossreference.entry(entry.place)
    except (Unsafe, *CONFUSED):
        return around
    return around if entry is None else entry.place


@dataclass(frozen=True)
class _Inherited:
    """What a field inherits from its ancestors. ``place``: where the innermost indirect object around it stands."""

    place: int
    kind: Any = None
    names: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The fully qualified name (ISO 32000-1, 12.7.3.2)."""
        return printable(".".join(self.names))


class _Walk:
    def __init__(self, reader: PdfReader) -> None:
        self._reader = reader
        self._fields = set[Ref]()
        self._values = set[Ref]()

    def below(self, values: Any, above: _Inherited, depth: int = 0) -> Iterator[SignedField]:
        for value in values if isinstance(values, list) and depth < _DEEPEST else ():
            if type(value) is Ref:
                if value in self._fields:
                    continue
                self._fields.add(value)
            here = _Inherited(place_of(self._reader, value, above.place), above.kind, above.names)
            try:
                field = self._reader.resolve(value)
                kids = self._reader.resolve(field.get(b"/Kids")) if isinstance(field, dict) else None
                here = self._named(field, here) if isinstance(field, dict) else here
            except (Unsafe, *CONFUSED):
                yield SignedField(here.name, here.place, "a field of the form cannot be read")
                continue
            if isinstance(field, dict):
                yield from self._signature(field, here)
                yield from self.below(kids, here, depth + 1)

    def _named(self, field: Dictionary, above: _Inherited) -> _Inherited:
        partial_name = text_of_string(self._reader.resolve(field.get(b"/T")))
        kind = self._reader.resolve(field.get(b"/FT"))
        names = (*above.names, partial_name) if b"/T" in field else above.names
        return _Inherited(above.place, above.kind if kind is None else kind, names)

    def _signature(self, field: Dictionary, here: _Inherited) -> Iterator[SignedField]:
        """Yield the field if it is a signature with a value; a value shared by several fields counts once."""
        entry = field.get(b"/V")
        if here.kind != b"/Sig" or entry is None or (type(entry) is Ref and entry in self._values):
            return
        if type(entry) is Ref:
            self._values.add(entry)
        name, place = here.name, place_of(self._reader, entry, here.place)
        try:
            value = self._reader.resolve(entry)
            if value is not None:
                yield self._read(value, SignedField(name, place, place=place))
        except (Unsafe, *CONFUSED) as error:
            why = str(error) if isinstance(error, Unsafe) else "its object confuses the reader"
            yield SignedField(name, place, why, place=place)

    def _read(self, value: Any, field: SignedField) -> SignedField:
        if not isinstance(value, dict):
            return replace(field, fault="its value is no dictionary", blank=True, unsigned=True)
        entries = {key: self._reader.resolve(item) for key, item in value.items() if key in _READ}
        contents = entries.get(b"/Contents")
        is_string = isinstance(contents, bytes) and contents[:1] in (b"(", b"<")
        value_bytes = string_bytes(contents) if isinstance(contents, bytes) and is_string else b""
        unsigned = not {b"/ByteRange", b"/Contents"} <= value.keys()
        blank = unsigned or (_SIGNED_DATA not in value_bytes and b"/Cert" not in value)
        is_timestamp = value.get(b"/Type") == b"/DocTimeStamp"
        field = replace(field, is_document_timestamp=is_timestamp, blank=blank, unsigned=unsigned)
        numbers = entries.get(b"/ByteRange")
        parts = [self._reader.resolve(item) for item in numbers] if isinstance(numbers, list) else []
        if len(parts) != 4 or not all(type(part) is int for part in parts):
            return replace(field, fault="its /ByteRange is not an array of four whole numbers")
        if not is_string:
            return replace(field, fault="its /Contents is no string")
        kind = entries.get(b"/SubFilter")
        return replace(
            field,
            is_document_timestamp=entries.get(b"/Type") == b"/DocTimeStamp" or kind == TIMESTAMP,
            sub_filter=printable(kind.decode("latin-1")) if isinstance(kind, bytes) else "",
            byte_range=tuple(parts),
            contents=value_bytes,
            claimed_at=date_of(text_of_string(entries.get(b"/M"))),
        )


@dataclass(frozen=True)
class FieldWidget:
    """A place of the field on a page; nothing is shown there if ``appearance`` is ``None``."""

    page: PageNode
    rectangle: Box
    appearance: Ref | None


def add_field(
    revision: Revision,
    signature: Ref,
    used_names: frozenset[str],
    widgets: Sequence[FieldWidget],
    *,
    signed: bool,
    name: str = SEAL,
) -> None:
    """Add a signature field to the form and its widgets to their pages. The name gets a number if it is in use.

    ``signed``: the file has signatures, so as little as possible may change. In a file without any, the form becomes a
    new object with a list of its own, and each page gets a list of annotations of its own. So an archive timestamp
    after the seal changes nothing of the file but a page: any other object might be referred to from elsewhere, and a
    change of it would count as an alteration.
    """
    names = chain([name], (f"{name} {number}" for number in count(2)))
    free = text_string(next(free for free in names if free not in used_names))
    field: Dictionary = {b"/FT": b"/Sig", b"/T": free, b"/V": signature}
    if len(widgets) == 1:
        ref = revision.add({**field, **_annotation(widgets[0], b"/Widget")})
        _annotate(revision, widgets[0], ref, signed=signed)
    else:
        ref = revision.reserve()
        # Poppler looks for the value, PDFium for the type, in the widgets alone.
        inherited = {b"/Parent": ref, b"/FT": b"/Sig", b"/V": signature}
        kids = [revision.add({**_annotation(widget, b"/Widget"), **inherited}) for widget in widgets]
        revision.put(ref, {**field, b"/Kids": kids})
        for widget, kid in zip(widgets, kids, strict=True):
            _annotate(revision, widget, kid, signed=signed)
    _extend_form(revision, ref, signed=signed)


def order_by_structure(revision: Revision, page: PageNode) -> None:
    """Have the annotations of a tagged file's page visited in the order of its structure, as PDF/UA demands of every
    page that has annotations (ISO 14289-1, 7.18.3)."""
    tagged = b"/StructTreeRoot" in revision.resolve(revision.reader.trailer[b"/Root"])
    if tagged and page.dictionary.get(b"/Tabs") != b"/S":
        revision.change(page.ref)[b"/Tabs"] = b"/S"


def signature_dictionary(at: datetime, reason: str, name: str) -> Dictionary:
    """Return the dictionary without /ByteRange and /Contents (ETSI EN 319 142-1 §5.3, table 1)."""
    dictionary: Dictionary = {
        b"/Type": b"/Sig",
        b"/Filter": b"/Adobe.PPKLite",
        b"/SubFilter": b"/ETSI.CAdES.detached",
        b"/M": at.astimezone(UTC).strftime("(D:%Y%m%d%H%M%SZ)").encode(),
    }
    if reason:
        dictionary[b"/Reason"] = text_string(reason)
    if name:
        dictionary[b"/Name"] = text_string(name)
    return dictionary


def timestamp_dictionary() -> Dictionary:
    """Return the dictionary of a document timestamp (ETSI EN 319 142-1 §5.4.3); its token states time and authority."""
    return {b"/Type": b"/DocTimeStamp", b"/Filter": b"/Adobe.PPKLite", b"/SubFilter": b"/ETSI.RFC3161"}


def _annotation(widget: FieldWidget, subtype: bytes) -> Dictionary:
    entries: Dictionary = {
        b"/Type": b"/Annot",
        b"/Subtype": subtype,
        b"/F": _PRINT_AND_LOCKED,
        b"/Rect": [float(edge) for edge in widget.rectangle],
        b"/P": widget.page.ref,
    }
    if widget.appearance is not None:
        entries[b"/AP"] = {b"/N": widget.appearance}
    return entries


def _annotate(revision: Revision, widget: FieldWidget, ref: Ref, *, signed: bool) -> None:
    """Add the widget as the last, topmost annotation of the page, which gets an array of its own; in a signed file the
    existing array is extended wherever it is."""
    annotations = widget.page.dictionary.get(b"/Annots")
    existing = revision.resolve(annotations)
    shown = widget.appearance is not None and not signed
    added = [revision.add(_annotation(widget, b"/Stamp")), ref] if shown and _draws_fields_anew(revision) else [ref]
    extended = [*existing, *added] if isinstance(existing, list) else added
    if type(annotations) is Ref and isinstance(existing, list) and signed:
        revision.put(annotations, extended)
    else:
        revision.change(widget.page.ref)[b"/Annots"] = extended


def _draws_fields_anew(revision: Revision) -> bool:
    """Return whether viewers must draw all fields themselves: poppler then drops the picture of a signature."""
    root = revision.resolve(revision.reader.trailer[b"/Root"])
    form = revision.resolve(root.get(b"/AcroForm"))
    return isinstance(form, dict) and revision.resolve(form.get(b"/NeedAppearances")) == b"true"


def _extend_form(revision: Revision, field: Ref, *, signed: bool) -> None:
    root_ref = revision.reader.trailer[b"/Root"]
    form_ref = revision.resolve(root_ref).get(b"/AcroForm")
    existing = revision.resolve(form_ref)
    if type(form_ref) is Ref and isinstance(existing, dict) and signed:
        form = revision.change(form_ref)
    else:
        form = dict(existing) if isinstance(existing, dict) else _new_form(revision)
        revision.change(root_ref)[b"/AcroForm"] = revision.add(form)
    flags, fields = form.get(b"/SigFlags"), form.get(b"/Fields")
    form[b"/SigFlags"] = (flags if isinstance(flags, int) else 0) | _SIGNATURES_EXIST_APPEND_ONLY
    known = revision.resolve(fields)
    extended = [*known, field] if isinstance(known, list) else [field]
    if type(fields) is Ref and isinstance(known, list) and signed:
        revision.put(fields, extended)
    else:
        form[b"/Fields"] = extended


def _new_form(revision: Revision) -> Dictionary:
    """Return a form with PDFium's own defaults for text annotations. Where a form exists but lacks defaults, PDFium
    hides text annotations that have no appearance."""
    font = {b"/Type": b"/Font", b"/Subtype": b"/Type1", b"/BaseFont": b"/Helvetica", b"/Encoding": b"/WinAnsiEncoding"}
    return {b"/DA": b"(/Helv 12 Tf 0 g)", b"/DR": {b"/Font": {b"/Helv": revision.add(font)}}}


@dataclass(frozen=True)
class ExistingSignatures:
    """The signatures of a file. ``certified``: one of them says which changes it permits, and a seal is not among
    these. ``field_names``: the partial names of all fields."""

    signatures: int
    certified: bool
    field_names: frozenset[str]


def existing_signatures(revision: Revision) -> ExistingSignatures:
    """Return what the form of the file says about its signatures, from all of its fields."""
    root = revision.resolve(revision.reader.trailer.get(b"/Root"))
    form = revision.resolve(root.get(b"/AcroForm"))
    fields = revision.resolve(form.get(b"/Fields")) if isinstance(form, dict) else None
    names, signatures = set[str](), list[Dictionary]()
    for field in form_fields(revision.resolve, fields):
        names.add(text_of_string(revision.resolve(field.get(b"/T"))))
        value = revision.resolve(field.get(b"/V"))
        if isinstance(value, dict) and b"/ByteRange" in value and b"/Contents" in value:
            signatures.append(value)
    certified = any(_certifies(revision, value) for value in signatures)
    return ExistingSignatures(len(signatures), certified, frozenset(names))


def form_fields(resolve: Callable[[Any], Any], fields: Any) -> Iterator[Dictionary]:
    """Yield the fields of a form and all below them, each once."""
    seen = set[Ref]()

    def below(values: Any, depth: int) -> Iterator[Dictionary]:
        for value in values if isinstance(values, list) and depth < _DEEPEST_NAMED else ():
            if type(value) is Ref:
                if value in seen:
                    continue
                seen.add(value)
            field = resolve(value)
            if isinstance(field, dict):
                yield field
                yield from below(resolve(field.get(b"/Kids")), depth + 1)

    return below(fields, 0)


def _certifies(revision: Revision, signature: Dictionary) -> bool:
    """Return whether the signature certifies the file, at whatever level (ISO 32000-1, 12.8.2.2): then no field may be
    added, and none of the file's own fields could show the marks where they belong."""
    references = revision.resolve(signature.get(b"/Reference"))
    listed = [revision.resolve(item) for item in references] if isinstance(references, list) else []
    methods = [revision.resolve(each.get(b"/TransformMethod")) for each in listed if isinstance(each, dict)]
    return b"/DocMDP" in methods
