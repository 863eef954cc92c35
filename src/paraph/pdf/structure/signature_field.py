"""The signature field of a seal, and the signatures that a file already has (ISO 32000-1, 12.7.4.5 and 12.8)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from paraph.pdf.structure.geometry import Box
from paraph.pdf.structure.objects import Dictionary, Ref, text_string
from paraph.pdf.structure.pages import PageNode
from paraph.pdf.structure.revision import Revision
from paraph.pdf.structure.signed_fields import text_of_string

SEAL, ARCHIVE_TIMESTAMP = "Seal", "Archive timestamp"

_PRINT_AND_LOCKED = 4 + 128
_SIGNATURES_EXIST_APPEND_ONLY = 3
_DEEPEST = 32


@dataclass(frozen=True)
class FieldWidget:
    """Where the field shows; ``appearance`` ``None``: nowhere."""

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
    free = text_string(next(free for free in _names(name) if free not in used_names))
    field: Dictionary = {b"/FT": b"/Sig", b"/T": free, b"/V": signature}
    if len(widgets) == 1:
        ref = revision.add({**field, **_widget(widgets[0])})
        _annotate(revision, widgets[0], ref, signed=signed)
    else:
        ref = revision.reserve()
        # Poppler looks for the value, PDFium for the type, in the widgets alone.
        inherited = {b"/Parent": ref, b"/FT": b"/Sig", b"/V": signature}
        kids = [revision.add({**_widget(widget), **inherited}) for widget in widgets]
        revision.put(ref, {**field, b"/Kids": kids})
        for widget, kid in zip(widgets, kids, strict=True):
            _annotate(revision, widget, kid, signed=signed)
    _extend_form(revision, ref, signed=signed)


def order_by_structure(revision: Revision, page: PageNode) -> None:
    """Have the annotations of a tagged file's page visited in the order of its structure, as PDF/UA demands of every
    page that has one (ISO 14289-1, 7.18.3)."""
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


def _names(base: str) -> Iterator[str]:
    yield base
    number = 2
    while True:
        yield f"{base} {number}"
        number += 1


def _widget(widget: FieldWidget) -> Dictionary:
    return {**_annotation(widget), b"/Subtype": b"/Widget"}


def _annotation(widget: FieldWidget) -> Dictionary:
    entries: Dictionary = {
        b"/Type": b"/Annot",
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
    added = [revision.add(_stamp(widget)), ref] if shown and _draws_fields_anew(revision) else [ref]
    extended = [*existing, *added] if isinstance(existing, list) else added
    if type(annotations) is Ref and isinstance(existing, list) and signed:
        revision.put(annotations, extended)
    else:
        revision.change(widget.page.ref)[b"/Annots"] = extended


def _stamp(widget: FieldWidget) -> Dictionary:
    return {**_annotation(widget), b"/Subtype": b"/Stamp"}


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
    """``certified``: a signature says which changes it permits, of which a seal is none. ``field_names``: the partial
    names of all fields."""

    signatures: int
    certified: bool
    field_names: frozenset[str]


def existing_signatures(revision: Revision) -> ExistingSignatures:
    """Return what the form of the file says of its signatures, with all fields visited."""
    root = revision.resolve(revision.reader.trailer.get(b"/Root"))
    form = revision.resolve(root.get(b"/AcroForm"))
    fields = revision.resolve(form.get(b"/Fields")) if isinstance(form, dict) else None
    names, signatures = set[str](), list[Dictionary]()
    for field in _fields(revision, fields, set(), 0):
        names.add(text_of_string(revision.resolve(field.get(b"/T"))))
        value = revision.resolve(field.get(b"/V"))
        if isinstance(value, dict) and b"/ByteRange" in value and b"/Contents" in value:
            signatures.append(value)
    return ExistingSignatures(
        len(signatures), any(_certifies(revision, value) for value in signatures), frozenset(names)
    )


def _fields(revision: Revision, values: Any, seen: set[Ref], depth: int) -> Iterator[Dictionary]:
    for value in values if isinstance(values, list) and depth < _DEEPEST else ():
        if type(value) is Ref:
            if value in seen:
                continue
            seen.add(value)
        field = revision.resolve(value)
        if isinstance(field, dict):
            yield field
            yield from _fields(revision, revision.resolve(field.get(b"/Kids")), seen, depth + 1)


def _certifies(revision: Revision, signature: Dictionary) -> bool:
    """Return whether the signature certifies the file, at whatever level (ISO 32000-1, 12.8.2.2): no field may be
    added, and none of the file's own could show the marks where they belong."""
    references = revision.resolve(signature.get(b"/Reference"))
    for item in references if isinstance(references, list) else ():
        reference = revision.resolve(item)
        if isinstance(reference, dict) and revision.resolve(reference.get(b"/TransformMethod")) == b"/DocMDP":
            return True
    return False
