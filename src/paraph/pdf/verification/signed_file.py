"""A PDF opened for its signatures, with its validation data: the file at each signature, and what its bytes tell."""

import hashlib
import re
import zlib
from dataclasses import dataclass
from dataclasses import field as data_field
from datetime import datetime
from functools import cached_property
from typing import Any

from paraph.kernel import clock
from paraph.pdf.pki.oids import finished
from paraph.pdf.pki.revocation import LongTermData
from paraph.pdf.refusal import SealError
from paraph.pdf.report import Coverage
from paraph.pdf.structure.crossreference import misstates_length
from paraph.pdf.structure.objects import CONFUSED, Dictionary, PdfStream, Unsafe
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.signature_fields import SignedField, ends_revision, place_of, signed_fields
from paraph.pdf.structure.unpacking import unpacked
from paraph.pdf.verification.appended.field import uses_defaults
from paraph.pdf.verification.second_opinion import SecondOpinion

KEYS = (b"/Certs", b"/CRLs", b"/OCSPs")
_ENCODING = (b"/Filter", b"/DecodeParms")
_MAX_ITEM = 32 * 1024 * 1024  # bytes; the longest revocation lists have a few million
_MAX_TOTAL = 64 * 1024 * 1024
_MAX_ENCODED = 64 * 1024
"""Bytes before decoding, for filters other than Flate, whose decoders have no limit."""
_MAX_SIGNATURES = 200
_HEXADECIMAL = (frozenset(b"0123456789abcdef"), frozenset(b"0123456789ABCDEF"))
_CACHED_READERS = 2
_BYTE_RANGE = re.compile(rb"/ByteRange\s*\[\s*0\s+\d{1,10}\s+(\d{1,10})\s+(\d{1,10})\s*\]")
_NEXT_END = re.compile(rb"startxref\s+[1-9]\d*\s+%%EOF(?:\r\n|\n|\r)?")
"""An end that points at byte 0 is that of the first part of a linearized file (ISO 32000-1, annex F)."""
_MOST_TRIES = 8
_MOST_TRACES = 64
_MOST_BLANKS = 256
"""White space that may follow the last update; readers look for its end within the last kilobyte."""
_BLANKS = b"\t\n\x0c\r "


@dataclass(frozen=True)
class StoredData:
    """The content of a store. ``incomplete``: ``data`` lacks items that could not be read."""

    data: LongTermData
    incomplete: bool


@dataclass
class StoreReader:
    """Reads the stores of several revisions of one file, and decodes no more in all than an honest store holds."""

    _decoded: dict[tuple[str, bytes], bytes] = data_field(default_factory=dict)
    _left: int = _MAX_TOTAL

    def read(self, reader: PdfReader) -> StoredData:
        """Return the content of the store, empty where there is none. Raise nothing."""
        try:
            store = reader.resolve(reader.dictionary(reader.trailer.get(b"/Root")).get(b"/DSS"))
        except (Unsafe, *CONFUSED):
            return StoredData(LongTermData(), incomplete=True)
        if not isinstance(store, dict):
            return StoredData(LongTermData(), incomplete=store is not None)
        items = [(key, item) for key in KEYS for item in _listed(reader, store, key)]
        # Newest first: an upload that holds too much must not crowd out the data of its seal.
        newest_first = sorted(enumerate(items), key=lambda each: place_of(reader, each[1][1], 0), reverse=True)
        contents = {number: self._content(reader, item) for number, (_, item) in newest_first}
        lists = ([contents[number] for number, (key, _) in enumerate(items) if key == wanted] for wanted in KEYS)
        data = LongTermData(*(tuple(content for content in listed if content) for listed in lists))
        return StoredData(data, incomplete=not all(contents.values()))

    def _content(self, reader: PdfReader, item: Any) -> bytes:
        try:
            stream = reader.resolve(item)
        except (Unsafe, *CONFUSED):
            return b""
        if not isinstance(stream, PdfStream):
            return b""
        key = (repr([stream.dictionary.get(entry) for entry in _ENCODING]), stream.data)
        if key not in self._decoded:
            self._decoded[key] = self._decode(stream)
        return self._decoded[key]

    def _decode(self, stream: PdfStream) -> bytes:
        if self._left <= 0:
            return b""
        try:
            content = _decode(stream)
        except (Unsafe, *CONFUSED):
            content = b""
        self._left -= len(content)
        return content if len(content) <= _MAX_ITEM else b""


def _listed(reader: PdfReader, store: Dictionary, key: bytes) -> list[Any]:
    """Return the items of one list; a single ``None``, which cannot be read, in place of anything but a list."""
    try:
        items = reader.resolve(store.get(key))
    except (Unsafe, *CONFUSED):
        return [None]
    if isinstance(items, list):
        return items
    return [] if items is None else [None]


def _decode(stream: PdfStream) -> bytes:
    """Decode a stream. One longer than :data:`_MAX_ITEM` comes out cut off shortly after this limit."""
    filters, parameters = stream.dictionary.get(b"/Filter"), stream.dictionary.get(b"/DecodeParms")
    if filters in (b"/FlateDecode", [b"/FlateDecode"]) and parameters in (None, [None]):
        try:
            return zlib.decompressobj().decompress(stream.data, _MAX_ITEM + 1)
        except zlib.error:
            return b""
    is_several = isinstance(filters, list) and len(filters) > 1
    if filters not in (None, []) and (len(stream.data) > _MAX_ENCODED or is_several):
        return b""
    return unpacked(stream)


class NotVerifiable(ValueError):
    """The file cannot be verified at all; the message is one sentence."""


class SignedFile:
    """A PDF opened for its signatures.

    ``signatures``: in the order of the revisions; ``removed``: those of them that the file had in an earlier revision
    and no longer lists; ``looks_at_all``: no signature is left out; ``findings``: a sentence for each part of the file
    that cannot be judged; ``as_of``: the time in the past that is asked about, ``None`` for now.
    """

    def __init__(self, pdf: bytes, as_of: datetime | None = None) -> None:
        """Open the file. Raise :class:`NotVerifiable`."""
        self.pdf, self.as_of = pdf, as_of
        self._reader, self._fields = _opened(pdf)
        self._readers: dict[int, PdfReader | None] = {}
        self._store = StoreReader()
        self.findings = list[str]()
        if len(self._fields) > _MAX_SIGNATURES:
            self.findings.append(f"Of its {len(self._fields)} signatures the newest {_MAX_SIGNATURES} were looked at.")
        self.signatures = self._fields[-_MAX_SIGNATURES:]
        self.looks_at_all = all(field.blank for field in self._fields[:-_MAX_SIGNATURES])
        self.removed = self._removed()
        for field in self.removed:
            position = sum(1 for each in self.signatures if each.fault or each.end < field.end)
            self.signatures.insert(position, field)
        self._stored = self._store.read(self._reader)
        if self._stored.incomplete:
            self.findings.append("Some of the long-term validation data in the file cannot be read.")

    @cached_property
    def misstates_length(self) -> bool:
        """Whether readers that rely on the length that the file states may begin with another part of it."""
        return misstates_length(self.pdf)

    @property
    def now(self) -> datetime:
        return self.as_of or clock.now()

    def digest(self, field: SignedField, algorithm: str) -> bytes:
        """Return the digest of the bytes that a signature covers, for the :mod:`hashlib` name of a hash."""
        view, hash_ = memoryview(self.pdf), hashlib.new(algorithm)
        for start, size in zip(field.byte_range[::2], field.byte_range[1::2], strict=True):
            hash_.update(view[start : start + size])
        return finished(hash_)

    def coverage(self, field: SignedField) -> Coverage:
        """Return what a signature covers; ``unclear`` unless it leaves out exactly its own value."""
        if field.fault or not self._gap_is_the_value(field):
            return "unclear"
        if only_blanks(self.pdf, field.end):
            return "whole file"
        reader = self.reader_until(field.end) if ends_revision(self.pdf, field.end) else None
        is_in_revision = reader is not None and any(_same(field, other) for other in signed_fields(reader))
        return "its revision" if is_in_revision else "unclear"

    def has_value(self, field: SignedField, value: bytes) -> bool:
        """Return whether the file has this value of a signature as the service writes it: in lower case, and zeros
        behind it."""
        _, before, after, _ = field.byte_range
        return self.pdf[before + 1 : after - 1] == value.hex().encode().ljust(after - before - 2, b"0")

    def end_of_revision(self, place: int) -> int:
        """Return where the revision ends in which byte ``place`` stands."""
        match = _NEXT_END.search(self.pdf, place)
        return match.end() if match else len(self.pdf)

    def objections(self, field: SignedField) -> str:
        """Return why the file may have been altered after a signature that is not trusted; empty if nothing says so."""
        before = self.reader_until(field.end)
        try:
            defaults_matter = before is None or uses_defaults(before)
        except (Unsafe, *CONFUSED):
            defaults_matter = True
        return self._second_opinion.objections(field, defaults_matter=defaults_matter)

    def long_term_data(self, field: SignedField | None = None) -> LongTermData:
        """Return the document security store now, or as of a signature that covers its revision; it may be empty. Lists
        and answers that did not exist yet at the time that is asked about are left out."""
        reader = self.reader_until(field.end) if field else None
        data = self._stored.data if field is None else self._store.read(reader).data if reader else LongTermData()
        return data.until(self.as_of) if self.as_of else data

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

    @cached_property
    def _second_opinion(self) -> SecondOpinion:
        return SecondOpinion(self.pdf, self._reader.crossreference.start)

    def _removed(self) -> list[SignedField]:
        """Return the signatures that the file had in an earlier revision and no longer lists, oldest first."""
        known = {field.end for field in self._fields if not field.fault}
        ends = sorted(end for end in _ends(self.pdf) - known if end < self._reader.size)
        try:
            if len(ends) > _MOST_TRACES:
                raise Unsafe("too much of it looks like signatures that were removed")
            found = [(end, self.reader_until(end)) for end in ends]
            return [
                field
                for end, reader in found
                for field in (signed_fields(reader) if reader else ())
                if not field.fault and field.end == end and not any(_same(field, other) for other in self._fields)
            ]
        except Unsafe as error:
            raise NotVerifiable(f"The file cannot be verified: {error}.") from error

    def _gap_is_the_value(self, field: SignedField) -> bool:
        """Return whether the byte range is ``[0 a b c]`` with ``<value>`` in hexadecimal of one case from ``a`` to
        ``b``."""
        start, before, after, rest = field.byte_range
        if start != 0 or not 0 < before < after or rest < 0 or after + rest > len(self.pdf):
            return False
        gap = self.pdf[before:after]
        digits = gap[1:-1]
        if gap[:1] != b"<" or gap[-1:] != b">" or len(digits) % 2:
            return False
        is_of_one_case = any(allowed.issuperset(digits) for allowed in _HEXADECIMAL)
        return is_of_one_case and bytes.fromhex(digits.decode()) == field.contents


def only_blanks(pdf: bytes, end: int) -> bool:
    """Return whether nothing but a little white space follows byte ``end``."""
    return len(pdf) - end <= _MOST_BLANKS and not pdf[end:].strip(_BLANKS)


def _opened(pdf: bytes) -> tuple[PdfReader, list[SignedField]]:
    try:
        reader = _reader_of(pdf)
        return reader, signed_fields(reader)
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
    """Open the file; if its end is unreadable, up to the newest signature before, so that the rest is an alteration."""
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
    """Return the ends of the revisions up to which something that looks like a signature claims to cover the file."""
    ends = {int(match[1]) + int(match[2]) for match in _BYTE_RANGE.finditer(pdf)}
    return {end for end in ends if ends_revision(pdf, end)}


def _same(one: SignedField, other: SignedField) -> bool:
    return (one.byte_range, one.contents) == (other.byte_range, other.contents)
