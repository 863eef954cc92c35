"""The revisions of a file: its signatures, what came after each of them, and its long-term data."""

from functools import cached_property
from typing import Protocol

from pyhanko.sign.diff_analysis import ModificationLevel

from paraph.pdf.errors import SealError
from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.structure.objects import CONFUSED, Unsafe
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.signed_fields import SignedField, ends_revision, signed_fields
from paraph.pdf.verification.revisions_by_pyhanko import RevisionsByPyHanko
from paraph.pdf.verification.rewritten_archive import is_archive_of
from paraph.pdf.verification.stored_validation_data import StoredData, StoreReader

_CACHED_READERS = 2


class Revisions(Protocol):
    """The revisions of one file, read by paraph's reader or by pyHanko's."""

    fields: list[SignedField]

    def ends_with(self, field: SignedField) -> bool:
        """Whether the signature's byte range ends where its revision ends."""

    def followed(self, field: SignedField) -> bool:
        """Whether a revision came after that of the signature."""

    def archived(self, field: SignedField, archive: SignedField) -> bool:
        """Whether nothing but this archive timestamp, as this service writes it, came after the signature."""

    def stored(self, field: SignedField | None = None) -> StoredData:
        """Returns the document security store, as it is now or as it was at a signature. Raises nothing."""

    def appended(self, field: SignedField) -> tuple[ModificationLevel, set[str]] | None:
        """Returns the strongest kind of change after the signature's revision and the names of the changed form fields;
        ``None`` where the revisions cannot be compared."""


class RevisionsByReader:
    """The revisions as paraph's reader finds them, which reads every file that the service ever sealed."""

    def __init__(self, pdf: bytes) -> None:
        """Raises :class:`~paraph.pdf.errors.SealError` for a missing password, and whatever the reader raises."""
        self._pdf = pdf
        self._reader = PdfReader(pdf)
        self._readers: dict[int, PdfReader | None] = {}
        self._store = StoreReader()
        self.fields = signed_fields(self._reader)

    def ends_with(self, field: SignedField) -> bool:
        """Whether the byte range ends a revision, and the file up to there has this signature."""
        reader = self._reader_until(field.end) if ends_revision(self._pdf, field.end) else None
        return reader is not None and any(_same(field, other) for other in signed_fields(reader))

    def followed(self, field: SignedField) -> bool:
        """Whether a revision came after the end of the byte range."""
        start = self._reader.crossreference.start
        return start is not None and start >= field.end

    def archived(self, field: SignedField, archive: SignedField) -> bool:
        """Writes the archive timestamp once more and compares the bytes."""
        before = self._reader_until(field.end)
        return before is not None and is_archive_of(before, self._reader, archive.contents)

    def stored(self, field: SignedField | None = None) -> StoredData:
        """Returns the store with what can be read of it."""
        reader = self._reader if field is None else self._reader_until(field.end)
        return self._store.read(reader) if reader else StoredData(LongTermData(), incomplete=True)

    def appended(self, field: SignedField) -> tuple[ModificationLevel, set[str]] | None:
        """Compares by pyHanko, which must find the same newest revision, and no signature that this reader does not."""
        other = self._other
        if other is None or other.start != self._reader.crossreference.start:
            return None
        if not all(self._knows(each) for each in other.fields):
            return None
        equal = [each for each in other.fields if not each.fault and each.name == field.name and _same(field, each)]
        return other.appended(equal[0]) if equal else None

    def _knows(self, field: SignedField) -> bool:
        """Whether this reader finds a signature too; one that only one of both can read is found by its name."""
        named = [each for each in self.fields if each.name == field.name]
        return any(field.fault or each.fault or _same(each, field) for each in named)

    @cached_property
    def _other(self) -> RevisionsByPyHanko | None:
        try:
            return RevisionsByPyHanko(self._pdf)
        except Exception:  # noqa: BLE001 — a hostile file makes the reader raise anything
            return None

    def _reader_until(self, end: int) -> PdfReader | None:
        """Returns a reader of the first ``end`` bytes, ``None`` where they cannot be read. Few readers are cached, as
        each holds a copy of its bytes."""
        if end == len(self._pdf):
            return self._reader
        if end not in self._readers:
            while len(self._readers) >= _CACHED_READERS:
                del self._readers[next(iter(self._readers))]
            try:
                self._readers[end] = PdfReader(self._pdf[:end])
            except (Unsafe, SealError, *CONFUSED):
                self._readers[end] = None
        return self._readers[end]


def _same(one: SignedField, other: SignedField) -> bool:
    return (one.byte_range, one.contents) == (other.byte_range, other.contents)
