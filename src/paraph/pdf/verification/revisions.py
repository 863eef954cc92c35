"""The revisions of a file: its signatures, what each of them covers, what came after it, its long-term data."""

from functools import cached_property
from typing import Protocol

from pyhanko.sign.diff_analysis import ModificationLevel

from paraph.pdf.errors import SealError
from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.structure.objects import CONFUSED, Unsafe
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.signed_fields import SignedField, ends_revision, signed_fields
from paraph.pdf.verification.archive_again import is_archive_of
from paraph.pdf.verification.revisions_by_pyhanko import RevisionsByPyHanko
from paraph.pdf.verification.stored_data import StoredData, StoreReader

_KEPT = 2


class Revisions(Protocol):
    """By our own reader, or by pyHanko where that cannot read the file."""

    fields: list[SignedField]

    def ends_with(self, field: SignedField) -> bool: ...
    def followed(self, field: SignedField) -> bool: ...
    def archived(self, field: SignedField, archive: SignedField) -> bool: ...
    def stored(self, field: SignedField | None = None) -> StoredData: ...
    def appended(self, field: SignedField) -> tuple[ModificationLevel, set[str]] | None: ...


class OwnRevisions:
    """By our own reader, which reads every file that this service ever sealed."""

    def __init__(self, pdf: bytes) -> None:
        """Raises :class:`~paraph.pdf.errors.SealError` where a password is missing, and what the reader raises."""
        self._pdf = pdf
        self._reader = PdfReader(pdf)
        self._until: dict[int, PdfReader | None] = {}
        self._store = StoreReader()
        self.fields = signed_fields(self._reader)

    def ends_with(self, field: SignedField) -> bool:
        """Whether the byte range ends where a revision ends, and the file as it was then has this very signature."""
        then = self._reader_until(field.end) if ends_revision(self._pdf, field.end) else None
        return then is not None and any(_same(field, other) for other in signed_fields(then))

    def followed(self, field: SignedField) -> bool:
        """Whether a revision came after the end of the byte range."""
        start = self._reader.crossreference.start
        return start is not None and start >= field.end

    def archived(self, field: SignedField, archive: SignedField) -> bool:
        """Whether nothing came after the signature but that archive timestamp, as this service writes it."""
        before = self._reader_until(field.end)
        return before is not None and is_archive_of(before, self._reader, archive.contents)

    def stored(self, field: SignedField | None = None) -> StoredData:
        """The document security store, now or as it was with a signature. Raises nothing."""
        reader = self._reader if field is None else self._reader_until(field.end)
        return self._store.read(reader) if reader else StoredData(LongTermData(), incomplete=True)

    def appended(self, field: SignedField) -> tuple[ModificationLevel, set[str]] | None:
        """By pyHanko, which must see the same newest revision and no signature that we do not see. ``None`` where it
        cannot tell."""
        other = self._other
        if other is None or other.start != self._reader.crossreference.start:
            return None
        if not all(self._knows(each) for each in other.fields):
            return None
        seen = [each for each in other.fields if not each.fault and each.name == field.name and _same(field, each)]
        return other.appended(seen[0]) if seen else None

    def _knows(self, field: SignedField) -> bool:
        """Whether we see this signature too; what only one of both can read is known by its name."""
        named = [each for each in self.fields if each.name == field.name]
        return any(field.fault or each.fault or _same(each, field) for each in named)

    @cached_property
    def _other(self) -> RevisionsByPyHanko | None:
        try:
            return RevisionsByPyHanko(self._pdf)
        except Exception:  # noqa: BLE001 — a hostile file makes the reader raise anything
            return None

    def _reader_until(self, end: int) -> PdfReader | None:
        """Of the file as it was when it ended there. Each holds a copy of it, so that few are kept."""
        if end == len(self._pdf):
            return self._reader
        if end not in self._until:
            while len(self._until) >= _KEPT:
                del self._until[next(iter(self._until))]
            try:
                self._until[end] = PdfReader(self._pdf[:end])
            except (Unsafe, SealError, *CONFUSED):
                self._until[end] = None
        return self._until[end]


def _same(one: SignedField, other: SignedField) -> bool:
    return (one.byte_range, one.contents) == (other.byte_range, other.contents)
