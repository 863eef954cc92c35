"""The changes to a file after one of its signatures: its updates, one by one, and what they tell; and how much of the
file existed at a time in the past.

An update may add long-term validation data, an invisible document timestamp, and a further signature that is trusted.
Everything else is refused. A timestamp authority stamps whatever it is given, so a timestamp over an update permits
nothing in it.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from paraph.pdf.structure.contents_references import referred_in_contents
from paraph.pdf.structure.objects import CONFUSED, Dictionary, PdfStream, Ref, Unsafe
from paraph.pdf.structure.pages import pages
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.signature_fields import SignedField, printable, text_of_string
from paraph.pdf.verification.appended.entries import (
    check_extensions,
    check_information,
    check_metadata,
    check_store,
    check_text,
    check_version,
)
from paraph.pdf.verification.appended.field import AddedField, check_defaults, check_field
from paraph.pdf.verification.appended.revision import read_revision
from paraph.pdf.verification.appended.view import AppendedRevision, NotPermitted, Update, appended_to, check_same
from paraph.pdf.verification.signature_check import SignatureCheck
from paraph.pdf.verification.signed_file import SignedFile, only_blanks

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
    """Return what an update added. Raise :class:`NotPermitted` if any of it is not known to be harmless.

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
    a string or a name, or a list with any of these."""
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


@dataclass(frozen=True)
class Changes:
    """``altered``: something that is not known to be harmless was appended; ``sentences`` tell of each addition, and of
    the first alteration; ``shown``: the pictures that trusted signatures added; ``open``: signatures alone were
    appended, but not all are trusted, or one rewrites the long-term data, or a timestamp shows something."""

    altered: bool
    sentences: tuple[str, ...]
    shown: tuple[Shown, ...] = ()
    open: bool = False


@dataclass(frozen=True)
class RefusedUpdate:
    """``start``: the first byte of what must not be there; ``reason``: the rest of a sentence."""

    start: int
    reason: str

    def __str__(self) -> str:
        return f"from byte {self.start} on, {self.reason}"


class History:
    """The updates of one file, each checked once. ``trusted``: the signatures and document timestamps that may add a
    field; ``lenient``: as in :func:`~paraph.pdf.verification.changes.check_additions`."""

    def __init__(self, file: SignedFile, trusted: Iterable[SignedField], *, lenient: bool = False) -> None:
        self._file = file
        self._is_lenient = lenient
        self._trusted = {field.end: field for field in trusted}
        self._checked: dict[int, tuple[int, Additions] | RefusedUpdate] = {}
        self._in_contents: frozenset[int] | None = None
        """The numbers of objects to which contents refer, which no permitted update changes."""

    def after(self, end: int) -> tuple[list[Additions], RefusedUpdate | None]:
        """Return what each update after byte ``end`` of a signature added, and why the next is refused, if it is."""
        additions: list[Additions] = []
        while not only_blanks(self._file.pdf, end):
            if end not in self._checked:
                self._checked[end] = self._check(end)
            checked = self._checked[end]
            if isinstance(checked, RefusedUpdate):
                self._in_contents = None
                return additions, checked
            end, added = checked
            additions.append(added)
        return additions, None

    def _check(self, start: int) -> tuple[int, Additions] | RefusedUpdate:
        before = self._file.reader_until(start)
        if before is None:
            return RefusedUpdate(start, "the file before cannot be read")
        try:
            revision = read_revision(before, self._file.pdf)
            if self._in_contents is None:
                self._in_contents = referred_in_contents(before, pages(before))
            signature = self._trusted.get(revision.end)
            added = check_additions(before, revision, signature, self._in_contents, lenient=self._is_lenient)
            return revision.end, added
        except NotPermitted as error:
            return RefusedUpdate(start, str(error))
        except (Unsafe, *CONFUSED):
            return RefusedUpdate(start, "the pages of the file before cannot be read")


def changes(
    file: SignedFile, strict: History, lenient: History, check: SignatureCheck, later: Sequence[SignatureCheck]
) -> Changes:
    """Return what changed after the signature of ``check``. ``later``: the signatures after it; ``strict`` lets trusted
    signatures alone add their field, ``lenient`` all that hold."""
    name = check.label
    if check.coverage == "whole file" or check.field.unsigned:
        return Changes(False, ())
    if check.field.blank:
        _, refusal = strict.after(file.end_of_revision(check.field.place))
        refused = [f"The file was changed after {name}: {refusal}."] if refusal is not None else []
        return Changes(refusal is not None, (*(_added(other) for other in later), *refused))
    if check.coverage == "unclear":
        return Changes(True, (f"Nobody can tell what was changed after {name}.",))
    additions, refusal = strict.after(check.field.end)
    sentences = [*_described(additions, name, later)]
    shown = tuple(picture for each in additions for picture in each.shown)
    if refusal is None:
        return Changes(False, tuple(dict.fromkeys(sentences)), shown)
    sentences += [_added(other) for other in later if not check.binds or not other.is_accepted]
    objections = ""
    if lenient.after(check.field.end)[1] is not None:
        # What other programs append after their own seals need not be written strictly.
        objections = file.objections(check.field) if check.purpose is None else f"{refusal}"
    if check.binds:
        told = "The file was changed after" if objections else "It cannot be told whether the file was changed after"
        sentences.append(f"{told} {name}: {refusal}.")
    elif objections:
        sentences.append(f"The file was changed after {name}: {objections}.")
    altered = bool(objections)
    return Changes(altered, tuple(dict.fromkeys(sentences)), shown, open=check.binds and not altered)


def _described(additions: Sequence[Additions], name: str, later: Sequence[SignatureCheck]) -> Iterator[str]:
    by_field = {other.field: other for other in later}
    for added in additions:
        if added.data:
            yield f"Long-term validation data was added after {name}."
        if added.signature is not None:
            yield _added(by_field[added.signature], added.shown)


def _added(other: SignatureCheck, shown: Sequence[Shown] = ()) -> str:
    label = other.label
    if other.field.fault:
        return f"A signature that cannot be read was added ({label})."
    trust = "" if other.is_accepted else ", which is not trusted,"
    by = f' by "{other.signer}"' if other.signer else ""
    if other.field.is_document_timestamp:
        return f"A document timestamp{by}{trust} was added ({label})."
    pages = ", ".join(dict.fromkeys(str(each.page + 1) for each in shown))
    where = f" on page{'s' if ',' in pages else ''} {pages}, visible" if pages else ""
    return f"A signature{by}{trust} was added{where} ({label})."


def end_at(file: SignedFile, checks: Sequence[SignatureCheck], moment: datetime) -> int:
    """Return how many bytes of the file existed at a moment; 0 where it had no signature yet.

    A revision did not exist yet where a trusted signature or timestamp in it says that it was made later. What was
    appended before that, and is covered only by it, is left out as well where it may follow a signature. Where it may
    not, nobody knows how long it has been there: all of the file counts, and the alteration with it.
    """
    later = next((place for place, check in enumerate(checks) if _is_later(check, moment)), None)
    if later is None:
        return len(file.pdf)
    end = max((check.field.end for check in checks[:later] if not check.field.fault), default=0)
    if end == 0:
        return 0
    _, refusal = History(file, [check.field for check in checks if check.is_accepted]).after(end)
    if refusal is not None and file.end_of_revision(refusal.start) < checks[later].field.end:
        return len(file.pdf)
    return end


def _is_later(check: SignatureCheck, moment: datetime) -> bool:
    stamp = check.timestamp
    made = stamp.time if stamp and stamp.trusted else check.claimed_at
    return check.is_accepted and made is not None and made > moment
