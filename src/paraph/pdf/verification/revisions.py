"""The revisions of a file as paraph's reader finds them, which reads every file that the service ever sealed."""

import re
from functools import cached_property

from paraph.pdf.errors import SealError
from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.structure.objects import CONFUSED, Unsafe
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.signed_fields import SignedField, ends_revision, signed_fields
from paraph.pdf.verification.second_opinion import SecondOpinion
from paraph.pdf.verification.stored_validation_data import StoredData, StoreReader

_CACHED_READERS = 2
_BYTE_RANGE = re.compile(rb"/ByteRange\s*\[\s*0\s+\d{1,10}\s+(\d{1,10})\s+(\d{1,10})\s*\]")
_MOST_TRIES = 8
_MOST_TRACES = 64


class Revisions:
    """The signatures of one file, the file as it was at each of them, and its long-term data."""

    def __init__(self, pdf: bytes) -> None:
        """Raise :class:`~paraph.pdf.errors.SealError` for a missing password, and whatever the reader raises."""
        self._pdf = pdf
        self._reader = _opened(pdf)
        self._readers: dict[int, PdfReader | None] = {}
        self._store = StoreReader()
        self.fields = signed_fields(self._reader)

    def removed(self) -> list[SignedField]:
        """Return the signatures that the file had in an earlier revision and no longer lists, oldest first. Raises
        :class:`Unsafe` if too many places of the file look like one."""
        known = {field.end for field in self.fields if not field.fault}
        ends = sorted(end for end in _ends(self._pdf) - known if end < self._reader.size)
        if len(ends) > _MOST_TRACES:
            raise Unsafe("too much of it looks like signatures that were removed")
        found = [(end, self.reader_until(end)) for end in ends]
        return [
            field
            for end, reader in found
            for field in (signed_fields(reader) if reader else ())
            if not field.fault and field.end == end and not any(_same(field, other) for other in self.fields)
        ]

    def ends_with(self, field: SignedField) -> bool:
        """Whether the byte range ends a revision, and the file up to there has this signature."""
        reader = self.reader_until(field.end) if ends_revision(self._pdf, field.end) else None
        return reader is not None and any(_same(field, other) for other in signed_fields(reader))

    def stored(self, field: SignedField | None = None) -> StoredData:
        """Return the document security store, as it is now or as it was at a signature. Raises nothing."""
        reader = self._reader if field is None else self.reader_until(field.end)
        return self._store.read(reader) if reader else StoredData(LongTermData(), incomplete=True)

    @cached_property
    def second_opinion(self) -> SecondOpinion:
        """What pyHanko thinks of the same file."""
        return SecondOpinion(self._pdf, self._reader.crossreference.start)

    def reader_until(self, end: int) -> PdfReader | None:
        """Return a reader of the first ``end`` bytes, ``None`` where they cannot be read. Few readers are cached, as
        each holds a copy of its bytes."""
        if end == self._reader.size:
            return self._reader
        if end not in self._readers:
            while len(self._readers) >= _CACHED_READERS:
                del self._readers[next(iter(self._readers))]
            try:
                self._readers[end] = PdfReader(self._pdf[:end])
            except (Unsafe, SealError, *CONFUSED):
                self._readers[end] = None
        return self._readers[end]


def _opened(pdf: bytes) -> PdfReader:
    """Open the file; where its end cannot be read, up to the newest signature before that. What follows this one is
    then an alteration."""
    try:
        return PdfReader(pdf)
    except (Unsafe, *CONFUSED):
        for end in sorted(_ends(pdf), reverse=True)[:_MOST_TRIES]:
            try:
                return PdfReader(pdf[:end])
            except (Unsafe, *CONFUSED):
                continue
        raise


def _ends(pdf: bytes) -> set[int]:
    """Return where revisions end up to which something that looks like a signature claims to cover the file."""
    ends = {int(match[1]) + int(match[2]) for match in _BYTE_RANGE.finditer(pdf)}
    return {end for end in ends if ends_revision(pdf, end)}


def _same(one: SignedField, other: SignedField) -> bool:
    return (one.byte_range, one.contents) == (other.byte_range, other.contents)
