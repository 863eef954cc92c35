"""The annotations of a plain file (ISO 32000-1, 12.5 and 12.7)."""

from collections.abc import Iterator
from typing import Any

from paraph.pdf.structure.objects import Dictionary, PdfStream
from paraph.pdf.untrusted.jobs.upload_checks.plain_form import values
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.fonts import Remarks
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.values import Kinds, NotPlain, Resolve, check_entries, is_blank

_ANNOTATION: Kinds = {
    b"/Subtype": values.is_name,
    b"/AS": values.is_name,
    b"/Rect": values.is_box,
    b"/F": values.is_natural,
    **dict.fromkeys((b"/AP", b"/BS", b"/MK", b"/OC"), values.is_dictionary),
    b"/Border": values.is_array,
    b"/InkList": values.is_array,
    b"/C": values.numbers(0, 1, 3, 4),
    b"/IC": values.numbers(0, 1, 3, 4),
    b"/QuadPoints": values.numbers(),
    b"/Vertices": values.numbers(),
    b"/L": values.numbers(4),
    b"/RD": values.numbers(4),
    b"/CA": values.is_number,
}
FIELD: Kinds = {
    b"/FT": values.one_of(b"/Tx", b"/Btn", b"/Ch", b"/Sig"),
    b"/Ff": values.is_natural,
    b"/MaxLen": values.is_natural,
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
    """Return whether an appearance shows nothing, as that of an invisible signature."""
    form = resolve(look)
    return _is_empty(resolve(form.dictionary[b"/BBox"])) or is_blank(form)


def _is_empty(box: list[Any]) -> bool:
    return float(box[0]) == float(box[2]) or float(box[1]) == float(box[3])
