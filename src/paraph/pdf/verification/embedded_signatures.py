"""The signatures of a PDF, the file as it was at each of them, and what its bytes tell before any cryptography."""

import hashlib
import re
from functools import cached_property

from paraph.pdf.errors import SealError
from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.report import Coverage
from paraph.pdf.structure.objects import CONFUSED, Unsafe
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.signed_fields import SignedField, ends_revision, signed_fields
from paraph.pdf.verification.second_opinion import SecondOpinion
from paraph.pdf.verification.stored_validation_data import StoredData, StoreReader

_MAX_SIGNATURES = 200
_HEXADECIMAL = (frozenset(b"0123456789abcdef"), frozenset(b"0123456789ABCDEF"))
_CACHED_READERS = 2
_BYTE_RANGE = re.compile(rb"/ByteRange\s*\[\s*0\s+\d{1,10}\s+(\d{1,10})\s+(\d{1,10})\s*\]")
_MOST_TRIES = 8
_MOST_TRACES = 64
_MOST_BLANKS = 256
"""White space that may follow the last update; readers look for its end within the last kilobyte."""
_BLANKS = b"\t\n\x0c\r "


class NotVerifiable(ValueError):
    """The file cannot be verified at all; the message is one sentence."""


class EmbeddedSignature:
    """One signature: its bytes and what it covers.

    ``fault`` is the reason why it cannot be judged at all, empty where it can. ``removed``: the file had it in an
    earlier revision and no longer lists it.
    """

    def __init__(self, revisions: "_Revisions", field: SignedField, *, removed: bool = False) -> None:
        self.removed = removed
        self.field_name = field.name
        self.is_document_timestamp = field.is_document_timestamp
        self.sub_filter = field.sub_filter
        self.contents = field.contents
        self.claimed_at = field.claimed_at
        self.fault = field.fault
        self.field = field
        self._pdf = revisions.pdf
        self._revisions = revisions

    @property
    def label(self) -> str:
        """The name of the field, for sentences."""
        return self.field_name or "without a name"

    def digest(self, algorithm: str) -> bytes:
        """Return the digest of the covered bytes, for the :mod:`hashlib` name of a hash."""
        view, hash_ = memoryview(self._pdf), hashlib.new(algorithm)
        for start, size in zip(self.field.byte_range[::2], self.field.byte_range[1::2], strict=True):
            hash_.update(view[start : start + size])
        return hash_.digest()

    def coverage(self) -> Coverage:
        """Return what the signature covers; ``unclear`` unless it leaves out exactly its own value."""
        if self.fault or not self._gap_is_the_value():
            return "unclear"
        if only_blanks(self._pdf, self.field.end):
            return "whole file"
        return "its revision" if self._revisions.ends_with(self.field) else "unclear"

    def _gap_is_the_value(self) -> bool:
        """Whether the byte range is ``[0 a b c]`` within the file, with ``<value>`` in hexadecimal digits of one case
        from ``a`` to ``b``."""
        start, before, after, rest = self.field.byte_range
        if start != 0 or not 0 < before < after or rest < 0 or after + rest > len(self._pdf):
            return False
        gap = self._pdf[before:after]
        digits = gap[1:-1]
        if gap[:1] != b"<" or gap[-1:] != b">" or len(digits) % 2:
            return False
        return any(allowed.issuperset(digits) for allowed in _HEXADECIMAL) and bytes.fromhex(digits.decode()) == (
            self.contents
        )


class SignedFile:
    """A PDF opened for its signatures, in the order of its revisions. ``findings``: a sentence for each part of the
    file that cannot be judged."""

    def __init__(self, pdf: bytes) -> None:
        """Open the file. Raises :class:`NotVerifiable`."""
        self.pdf = pdf
        self._revisions = _opened(pdf)
        fields, self.findings = self._revisions.fields, list[str]()
        if len(fields) > _MAX_SIGNATURES:
            self.findings.append(f"Of its {len(fields)} signatures the newest {_MAX_SIGNATURES} were looked at.")
        self.signatures = [EmbeddedSignature(self._revisions, field) for field in fields[-_MAX_SIGNATURES:]]
        try:
            removed = self._revisions.removed()
        except Unsafe as error:
            raise NotVerifiable(f"The file cannot be verified: {error}.") from error
        for field in removed:
            position = sum(1 for each in self.signatures if each.fault or each.field.end < field.end)
            self.signatures.insert(position, EmbeddedSignature(self._revisions, field, removed=True))
        self._stored = self._revisions.stored()
        if self._stored.incomplete:
            self.findings.append("Some of the long-term validation data in the file cannot be read.")

    def reader_until(self, end: int) -> PdfReader | None:
        """Return a reader of the first ``end`` bytes, ``None`` where they cannot be read."""
        return self._revisions.reader_until(end)

    def objections(self, embedded: EmbeddedSignature) -> str:
        """Return why the file may have been altered after a signature that is not trusted; empty for no reason."""
        return self._revisions.second_opinion.objections(embedded.field)

    def long_term_data(self, embedded: EmbeddedSignature | None = None) -> LongTermData:
        """Return the document security store, as it is now, or as it was at a signature that covers its revision;
        empty where there is none."""
        return (self._stored if embedded is None else self._revisions.stored(embedded.field)).data


class _Revisions:
    """The fields of one file, the file as it was at each of them, and its long-term data. The signatures hold it, so
    it holds none of them: a circle would keep a large file in memory."""

    def __init__(self, pdf: bytes) -> None:
        """Raise :class:`~paraph.pdf.errors.SealError` for a missing password, and whatever the reader raises."""
        self.pdf = pdf
        self._reader = _reader_of(pdf)
        self._readers: dict[int, PdfReader | None] = {}
        self._store = StoreReader()
        self.fields = signed_fields(self._reader)

    def removed(self) -> list[SignedField]:
        """Return the signatures that the file had in an earlier revision and no longer lists, oldest first. Raises
        :class:`Unsafe` if too many places of the file look like one."""
        known = {field.end for field in self.fields if not field.fault}
        ends = sorted(end for end in _ends(self.pdf) - known if end < self._reader.size)
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
        reader = self.reader_until(field.end) if ends_revision(self.pdf, field.end) else None
        return reader is not None and any(_same(field, other) for other in signed_fields(reader))

    def stored(self, field: SignedField | None = None) -> StoredData:
        """Return the document security store, as it is now or as it was at a signature. Raises nothing."""
        reader = self._reader if field is None else self.reader_until(field.end)
        return self._store.read(reader) if reader else StoredData(LongTermData(), incomplete=True)

    @cached_property
    def second_opinion(self) -> SecondOpinion:
        return SecondOpinion(self.pdf, self._reader.crossreference.start)

    def reader_until(self, end: int) -> PdfReader | None:
        """Return a reader of the first ``end`` bytes, ``None`` where they cannot be read. Few readers are cached, as
        each holds a copy of its bytes."""
        if end == self._reader.size:
            return self._reader
        if end not in self._readers:
            while len(self._readers) >= _CACHED_READERS:
                del self._readers[next(iter(self._readers))]
            try:
                self._readers[end] = PdfReader(self.pdf[:end])
            except (Unsafe, SealError, *CONFUSED):
                self._readers[end] = None
        return self._readers[end]


def only_blanks(pdf: bytes, end: int) -> bool:
    """Whether nothing but a little white space follows byte ``end``."""
    return len(pdf) - end <= _MOST_BLANKS and not pdf[end:].strip(_BLANKS)


def _opened(pdf: bytes) -> _Revisions:
    try:
        return _Revisions(pdf)
    except SealError as error:
        raise NotVerifiable("The file is encrypted and cannot be read without its password.") from error
    except Unsafe as error:
        raise NotVerifiable(f"The file cannot be read as a PDF with signatures: {error}.") from error
    except MemoryError:
        raise  # the sandbox tells that the file takes too much
    except Exception as error:
        sentence = f"The file cannot be read as a PDF with signatures ({type(error).__name__})."
        raise NotVerifiable(sentence) from error


def _reader_of(pdf: bytes) -> PdfReader:
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
