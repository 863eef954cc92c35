"""What an update may add after a trusted seal: long-term validation data, an invisible document timestamp, and a
further signature that is trusted. Everything else is refused.

A timestamp authority stamps whatever it is given, so a timestamp over an update permits nothing in it.
"""

from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any

from paraph.pdf.structure.objects import CONFUSED, Dictionary, PdfStream, Ref, Unsafe
from paraph.pdf.structure.pages import pages
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.signature_fields import SignedField, printable, text_of_string
from paraph.pdf.verification.appended.field import AddedField, check_defaults, check_field
from paraph.pdf.verification.appended.properties import (
    check_extensions,
    check_information,
    check_metadata,
    check_text,
    check_version,
)
from paraph.pdf.verification.appended.store import check_store
from paraph.pdf.verification.appended.view import AppendedRevision, NotPermitted, Update, appended_to, check_same

_CATALOG = frozenset({b"/AcroForm", b"/DSS", b"/Extensions", b"/Version", b"/Metadata", b"/Lang"})
_FORM = frozenset({b"/Fields", b"/SigFlags"})
_ANNOTS = frozenset({b"/Annots"})
_SIGNED_AND_APPEND_ONLY = 3


@dataclass(frozen=True)
class Shown:
    """A picture that a signature added: the page, counted from 0, and the rectangle in user space."""

    page: int
    rectangle: tuple[float, ...]


@dataclass(frozen=True)
class Additions:
    """What one update added. ``signature``: the trusted one, if any; ``shown``: its pictures."""

    data: bool
    signature: SignedField | None
    shown: tuple[Shown, ...]


def check_additions(
    before: PdfReader,
    revision: AppendedRevision,
    signature: SignedField | None,
    in_contents: Set[int],
    *,
    lenient: bool = False,
) -> Additions:
    """Return what an update added. Raises :class:`NotPermitted` if any of it is not known to be harmless.

    ``before``: reads the file without it; ``signature``: the trusted signature or document timestamp that covers the
    file up to the end of the update, ``None`` where there is none; ``in_contents``: the numbers of objects to which
    contents refer (:func:`~paraph.pdf.structure.contents_references.referred_in_contents`); ``lenient``: whether a
    document timestamp may show something, and long-term data be left out.
    """
    update = Update(before, revision, lenient=lenient)
    try:
        return _check(update, signature, in_contents)
    except Unsafe as error:
        raise NotPermitted(f"{error}") from error
    except CONFUSED as error:
        raise NotPermitted("an object has another type than it must have") from error


def _check(update: Update, signature: SignedField | None, in_contents: Set[int]) -> Additions:
    root = update.before.trailer[b"/Root"]
    old = update.before.dictionary(root)
    new = update.dictionary(root, "the catalog")
    check_same("the catalog", old, new, _CATALOG)
    check_text(update, "the language of the file", old.get(b"/Lang"), new.get(b"/Lang"))
    data = check_store(update, old.get(b"/DSS"), new.get(b"/DSS"))
    field = _check_form(update, old.get(b"/AcroForm"), new.get(b"/AcroForm"), signature)
    check_version(update, old.get(b"/Version"), new.get(b"/Version"))
    check_extensions(update, old.get(b"/Extensions"), new.get(b"/Extensions"))
    check_metadata(update, old.get(b"/Metadata"), new.get(b"/Metadata"))
    check_information(update, update.before.trailer.get(b"/Info"), update.revision.trailer.get(b"/Info"))
    shown = tuple(_check_pages(update, field))
    for ref in update.left_over():
        if not update.is_new(ref) and update.is_unchanged(ref):
            continue
        raise NotPermitted(f"{_named(update, ref)} was {'added' if update.is_new(ref) else 'changed'}")
    listing = update.revision.listing
    unchanged = set(update.left_over())
    for ref in sorted({*update.revision.objects, *([listing] if listing else [])} - update.pages - unchanged):
        update.check_unwanted(ref)
        if ref.number in in_contents:
            raise NotPermitted(f"contents refer to object {ref.number}")
        if update.is_new(ref) and (signature is None or signature.is_document_timestamp):
            _check_not_drawn(ref, update.revision.objects[ref])
    if not data and field is None:
        raise NotPermitted("what follows holds neither long-term validation data nor a trusted signature or timestamp")
    return Additions(data, signature, shown)


def _check_not_drawn(ref: Ref, value: Any) -> None:
    """Raise :class:`NotPermitted` for a new object with which contents could draw, were they to refer to it: a number,
    a string or a name, or a list with any."""
    is_listing = isinstance(value, list) and all(type(item) is Ref for item in value)
    if not is_listing and not isinstance(value, dict | PdfStream):
        raise NotPermitted(f"object {ref.number} is neither a dictionary nor a list of objects")


def _named(update: Update, ref: Ref) -> str:
    """Name an object in words, as far as it says what it is."""
    value = update.revision.objects[ref] if update.is_new(ref) else update.before.object(ref)
    dictionary = value.dictionary if isinstance(value, PdfStream) else value if isinstance(value, dict) else {}
    if name := text_of_string(update.was(dictionary.get(b"/T"))):
        return f'the form field "{printable(name)}" (object {ref.number})'
    kind = dictionary.get(b"/Type")
    return f"object {ref.number}" + (f" ({printable(kind.decode('latin-1'))})" if isinstance(kind, bytes) else "")


def _check_form(update: Update, old: Any, new: Any, signature: SignedField | None) -> AddedField | None:
    before, after = update.was(old), update.now(new)
    if not isinstance(before, dict) or not isinstance(after, dict):
        raise NotPermitted("the form is gone")
    gained = check_defaults(update, before, after)
    check_same("the form", before, after, _FORM | gained)
    if after.get(b"/SigFlags") not in (before.get(b"/SigFlags"), _SIGNED_AND_APPEND_ONLY):
        raise NotPermitted("the form has other flags")
    added = appended_to("the form", update.was(before.get(b"/Fields")), update.now(after.get(b"/Fields")))
    if not added and signature is None:
        return None
    if signature is None:
        raise NotPermitted("the form gained a field without a trusted signature or timestamp")
    if len(added) != 1:
        raise NotPermitted("the form gained other fields than that of one signature")
    return check_field(update, added[0], signature)


def _check_pages(update: Update, field: AddedField | None) -> Iterator[Shown]:
    """Check that pages gained nothing but the widgets of the field, and yield what they show."""
    changes = {ref for ref in update.left_over() if not update.is_new(ref) and not update.is_unchanged(ref)}
    if field is None:
        return
    visible = {ref for ref, rectangle in field.widgets.items() if rectangle is not None}
    unseen, unread = set(visible), set(changes)
    for number, page in enumerate(pages(update.before) if changes or visible else ()):
        listed = page.dictionary.get(b"/Annots")
        shared = type(listed) is Ref and listed in changes
        if page.ref in changes or shared:
            added = _added_to_page(update, page.ref, page.dictionary)
            if not set(added) <= field.widgets.keys():
                raise NotPermitted("a page gained other annotations than the widget of the signature")
            if not shared and any(field.pages[widget] not in (None, page.ref) for widget in added):
                raise NotPermitted("a widget is on another page than it says")
            for widget in visible.intersection(added):
                unseen.discard(widget)
                yield Shown(number, field.widgets[widget] or ())
            unread -= {page.ref, listed} if shared else {page.ref}
            if not visible and unread:
                raise NotPermitted("what shows nothing needs one page at most")
        if not visible and not unread:
            return  # what shows nothing need not be looked for on all other pages
    if unseen:
        raise NotPermitted("a widget is on no page")


def _added_to_page(update: Update, ref: Ref, old: Dictionary) -> list[Any]:
    new = update.dictionary(ref, "a page")
    update.pages.add(ref)
    check_same("a page", old, new, _ANNOTS)
    added = appended_to("a page", update.was(old.get(b"/Annots")), update.now(new.get(b"/Annots")))
    if len(set(added)) != len(added):
        raise NotPermitted("a page has a widget twice")
    return added
