"""The signature field of a seal, and the signatures that a file has already (ISO 32000-1, 12.7.4.5 and 12.8)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from paraph.pdf.structure.geometry import Box
from paraph.pdf.structure.objects import Dictionary, Ref, string
from paraph.pdf.structure.pages import Page
from paraph.pdf.structure.revision import Revision

SEAL, ARCHIVE_TIMESTAMP = "Seal", "Archive timestamp"

_PRINT_AND_LOCKED = 4 + 128
_SIGNATURES_EXIST_APPEND_ONLY = 3
_DEEPEST = 32


@dataclass(frozen=True)
class Standing:
    """What earlier signatures ask of a new revision."""

    signatures: int
    changes_forbidden: bool
    field_names: frozenset[bytes]


@dataclass(frozen=True)
class Widget:
    """Where the field shows. ``appearance`` None: nowhere. ``signed``: in a file that was signed before, of which no
    more may change than must."""

    page: Page
    rectangle: Box
    appearance: Ref | None
    signed: bool = False


def standing(revision: Revision) -> Standing:
    """Looks at every field of the form. Names are tokens as they stand in the file."""
    root = revision.resolve(revision.reader.trailer.get(b"/Root"))
    form = revision.resolve(root.get(b"/AcroForm"))
    fields = revision.resolve(form.get(b"/Fields")) if isinstance(form, dict) else None
    names, signatures = set[bytes](), list[Dictionary]()
    for field in _fields(revision, fields, set(), 0):
        if isinstance(field.get(b"/T"), bytes):
            names.add(field[b"/T"])
        value = revision.resolve(field.get(b"/V"))
        if isinstance(value, dict) and b"/ByteRange" in value and b"/Contents" in value:
            signatures.append(value)
    return Standing(len(signatures), any(_forbids_changes(revision, value) for value in signatures), frozenset(names))


def add_field(
    revision: Revision, signature: Ref, taken: frozenset[bytes], widgets: Sequence[Widget], name: str = SEAL
) -> None:
    """Adds a signature field to the form and its widgets to their pages. The name gets a number where it is taken."""
    free = string(next(free for free in _names(name) if string(free) not in taken))
    field: Dictionary = {b"/FT": b"/Sig", b"/T": free, b"/V": signature}
    if len(widgets) == 1:
        ref = revision.add({**field, **_widget(widgets[0])})
        _annotate(revision, widgets[0], ref)
    else:
        ref = revision.reserve()
        # Poppler looks for the value, PDFium for the type, in the widgets alone.
        inherited = {b"/Parent": ref, b"/FT": b"/Sig", b"/V": signature}
        kids = [revision.add({**_widget(widget), **inherited}) for widget in widgets]
        revision.put(ref, {**field, b"/Kids": kids})
        for widget, kid in zip(widgets, kids, strict=True):
            _annotate(revision, widget, kid)
    _extend_form(revision, ref)


def signature_dictionary(at: datetime, reason: str, name: str) -> Dictionary:
    """All but /ByteRange and /Contents (ETSI EN 319 142-1 §5.3, table 1)."""
    dictionary: Dictionary = {
        b"/Type": b"/Sig",
        b"/Filter": b"/Adobe.PPKLite",
        b"/SubFilter": b"/ETSI.CAdES.detached",
        b"/M": at.astimezone(UTC).strftime("(D:%Y%m%d%H%M%SZ)").encode(),
    }
    if reason:
        dictionary[b"/Reason"] = string(reason)
    if name:
        dictionary[b"/Name"] = string(name)
    return dictionary


def timestamp_dictionary() -> Dictionary:
    """The same of a document timestamp (ETSI EN 319 142-1 §5.4.3): its token states the time and the authority."""
    return {b"/Type": b"/DocTimeStamp", b"/Filter": b"/Adobe.PPKLite", b"/SubFilter": b"/ETSI.RFC3161"}


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


def _forbids_changes(revision: Revision, signature: Dictionary) -> bool:
    """Certified with level 1: no changes at all (ISO 32000-1, table 254)."""
    references = revision.resolve(signature.get(b"/Reference"))
    for item in references if isinstance(references, list) else ():
        reference = revision.resolve(item)
        if isinstance(reference, dict) and reference.get(b"/TransformMethod") == b"/DocMDP":
            parameters = revision.resolve(reference.get(b"/TransformParams"))
            if isinstance(parameters, dict) and revision.resolve(parameters.get(b"/P")) == 1:
                return True
    return False


def _names(base: str) -> Iterator[str]:
    yield base
    number = 2
    while True:
        yield f"{base} {number}"
        number += 1


def _widget(widget: Widget) -> Dictionary:
    return {**_annotation(widget), b"/Subtype": b"/Widget"}


def _annotation(widget: Widget) -> Dictionary:
    entries: Dictionary = {
        b"/Type": b"/Annot",
        b"/F": _PRINT_AND_LOCKED,
        b"/Rect": [float(edge) for edge in widget.rectangle],
        b"/P": widget.page.ref,
    }
    if widget.appearance is not None:
        entries[b"/AP"] = {b"/N": widget.appearance}
    return entries


def _annotate(revision: Revision, widget: Widget, ref: Ref) -> None:
    """As the last of the page's annotations: that is on top. A page that shares its annotations with others gets its
    own where something shows; in a signed file, their array is extended wherever it is."""
    annotations = widget.page.dictionary.get(b"/Annots")
    existing = revision.resolve(annotations)
    shown = widget.appearance is not None and not widget.signed
    added = [revision.add(_stamp(widget)), ref] if shown and _draws_fields_anew(revision) else [ref]
    extended = [*existing, *added] if isinstance(existing, list) else added
    if type(annotations) is Ref and isinstance(existing, list) and not shown:
        revision.put(annotations, extended)
    else:
        revision.change(widget.page.ref)[b"/Annots"] = extended


def _stamp(widget: Widget) -> Dictionary:
    """The same picture as no field."""
    return {**_annotation(widget), b"/Subtype": b"/Stamp"}


def _draws_fields_anew(revision: Revision) -> bool:
    """Whether viewers are told to draw all fields themselves: poppler then shows nothing of a signature's picture."""
    root = revision.resolve(revision.reader.trailer[b"/Root"])
    form = revision.resolve(root.get(b"/AcroForm"))
    return isinstance(form, dict) and revision.resolve(form.get(b"/NeedAppearances")) == b"true"


def _extend_form(revision: Revision, field: Ref) -> None:
    root_ref = revision.reader.trailer[b"/Root"]
    form_ref = revision.resolve(root_ref).get(b"/AcroForm")
    existing = revision.resolve(form_ref)
    if type(form_ref) is Ref and isinstance(existing, dict):
        form = revision.change(form_ref)
    else:
        form = dict(existing) if isinstance(existing, dict) else _new_form(revision)
        revision.change(root_ref)[b"/AcroForm"] = form
    flags, fields = form.get(b"/SigFlags"), form.get(b"/Fields")
    form[b"/SigFlags"] = (flags if isinstance(flags, int) else 0) | _SIGNATURES_EXIST_APPEND_ONLY
    known = revision.resolve(fields)
    extended = [*known, field] if isinstance(known, list) else [field]
    if type(fields) is Ref and isinstance(known, list):
        revision.put(fields, extended)
    else:
        form[b"/Fields"] = extended


def _new_form(revision: Revision) -> Dictionary:
    """With the defaults that PDFium draws text annotations by where a file has no form. It shows none of those that
    lack an appearance where there is a form without defaults."""
    font = {b"/Type": b"/Font", b"/Subtype": b"/Type1", b"/BaseFont": b"/Helvetica", b"/Encoding": b"/WinAnsiEncoding"}
    return {b"/DA": b"(/Helv 12 Tf 0 g)", b"/DR": {b"/Font": {b"/Helv": revision.add(font)}}}
