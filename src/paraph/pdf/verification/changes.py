"""The changes to a file after one of its signatures: its updates, one by one, and what they tell; and how far the file
was there at a time in the past."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from paraph.pdf.structure.contents_references import referred_in_contents
from paraph.pdf.structure.objects import CONFUSED, Unsafe
from paraph.pdf.structure.pages import pages
from paraph.pdf.structure.signature_fields import SignedField
from paraph.pdf.verification.appended.additions import Additions, Shown, check_additions
from paraph.pdf.verification.appended.revision import read_revision
from paraph.pdf.verification.appended.view import NotPermitted
from paraph.pdf.verification.signature_check import SignatureCheck
from paraph.pdf.verification.signed_file import SignedFile, only_blanks


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
    field; ``lenient``: as in :func:`~paraph.pdf.verification.appended.additions.check_additions`."""

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
        # What others write after seals of their own need not be written strictly.
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
    """Return up to which byte the file was there at a moment; 0 where it had no signature yet.

    A revision was not there yet where a trusted signature or timestamp in it says that it was made later. What was
    appended before, and covered only by that, is left out as well where it may follow a signature. Where it may not,
    nobody knows since when it stands there: all of the file counts, and the alteration with it.
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
