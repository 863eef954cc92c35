"""One incremental revision of a file (ISO 32000-1, 7.5): changed and new objects, written after its end."""

import hashlib
import zlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

from paraph.pdf.structure.crossreference import LARGEST_NUMBER, CrossReferenceEntry
from paraph.pdf.structure.objects import Dictionary, PdfStream, Ref, Unsafe, followed, runs, serialized
from paraph.pdf.structure.reader import PdfReader

_BYTE_RANGE = b"[0 0000000000 0000000000 0000000000]"
_WORTH_COMPRESSING = 200
_ROOM = 100_000  # objects of this revision and of later ones
_SOON = 250  # objects; a file must not leave out so many numbers that readers take those beyond for damage


class WrittenRevision(NamedTuple):
    """The bytes that follow the file. A revision with a signature has a hole from ``start`` to ``end`` for its value
    and the angle brackets around that; the signature covers the file before the revision and all but the hole."""

    text: bytearray
    start: int = 0
    end: int = 0

    def hashed_after(self, before: "hashlib._Hash") -> "hashlib._Hash":
        """Return the hash over the file, whose state is ``before``, and all but the hole."""
        document = before.copy()
        with memoryview(self.text) as text:
            document.update(text[: self.start])
            document.update(text[self.end :])
        return document

    def has_room_for(self, value: bytes) -> bool:
        """Return whether a value, in hexadecimal digits, fits into the hole."""
        return len(value) <= self.end - self.start - 2

    def fill(self, value: bytes) -> None:
        """Write the value, in hexadecimal digits, into the hole."""
        self.text[self.start + 1 : self.start + 1 + len(value)] = value


class Revision:
    """Collect the objects of a revision. The reader's own objects are never modified."""

    def __init__(self, reader: PdfReader) -> None:
        self.reader = reader
        first = reader.crossreference.next_number
        if first > LARGEST_NUMBER - _ROOM:
            raise Unsafe("readers have no room for more objects")
        self._first = first
        self._changed: dict[Ref, Any] = {}
        self._signature: tuple[Ref, int] | None = None
        self.section: tuple[int, int, Dictionary]
        """Once it is written: where its cross-reference begins, where the file ends, and the trailer."""

    @cached_property
    def _next(self) -> int:
        """A reference to a missing object must not come to mean an object of this revision or of later ones."""
        return self.reader.highest_mentioned(self._first, self._first + _SOON) + 1

    @property
    def leaves_numbers_out(self) -> bool:
        """Whether something in the file refers to objects beyond its last."""
        return self._next > self._first

    def add(self, value: Any) -> Ref:
        ref = Ref(self._next)
        self._next += 1
        self._changed[ref] = value
        return ref

    def reserve(self) -> Ref:
        """Return the reference of an object that :meth:`put` supplies later."""
        return self.add(None)

    def put(self, ref: Ref, value: Any) -> None:
        """Set the new value of an object."""
        self._changed[ref] = value

    def put_signature(self, ref: Ref, dictionary: Dictionary, hole: int) -> None:
        """Set the signature dictionary, without /Contents and /ByteRange; ``hole`` bytes are reserved for its CMS."""
        self._changed[ref] = dictionary
        self._signature = (ref, hole)

    def stream(self, data: bytes, dictionary: Dictionary | None = None) -> Ref:
        """Add a new stream, compressed where that helps."""
        entries = dict(dictionary or {})
        if len(data) > _WORTH_COMPRESSING and b"/Filter" not in entries:
            data = zlib.compress(data, 6)
            entries[b"/Filter"] = b"/FlateDecode"
        return self.add(PdfStream(entries, data))

    def resolve(self, value: Any) -> Any:
        """Follow references to the object as this revision leaves it."""
        return followed(value, self._object) if type(value) is Ref else value

    def _object(self, ref: Ref) -> Any:
        return self._changed[ref] if ref in self._changed else self.reader.object(ref)

    def change(self, ref: Ref) -> Dictionary:
        """Return a copy of the dictionary at ``ref`` that may be modified and replaces it."""
        if ref not in self._changed:
            self._changed[ref] = dict(self.reader.dictionary(ref))
        value: Dictionary = self._changed[ref]
        return value

    def write(self) -> WrittenRevision:
        text = bytearray(b"" if self.reader.ends_line else b"\n")
        base, offsets, encryption = self.reader.size, dict[Ref, int](), self.reader.encryption
        range_at = hole_start = hole_end = 0
        for ref, object_value in self._changed.items():
            value = encryption.encrypt(ref, object_value) if encryption else object_value
            offsets[ref] = base + len(text)
            text += b"%d %d obj\n" % ref
            if self._signature is not None and ref == self._signature[0]:
                text += serialized(value)[:-2] + b"/ByteRange "
                range_at = len(text)
                text += _BYTE_RANGE + b"\n/Contents "
                hole_start = len(text)
                text += b"<" + b"0" * (2 * self._signature[1]) + b">"
                hole_end = len(text)
                text += b">>"
            elif isinstance(value, PdfStream):
                text += serialized({**value.dictionary, b"/Length": len(value.data)})
                text += b"\nstream\n"
                text += value.data
                text += b"\nendstream"
            else:
                text += serialized(value)
            text += b"\nendobj\n"
        start = base + len(text)
        trailer = self._write_crossreference(text, start, offsets)
        self.section = start, base + len(text), trailer
        if range_at:
            filled = b"[0 %d %d %d]" % (base + hole_start, base + hole_end, len(text) - hole_end)
            text[range_at : range_at + len(_BYTE_RANGE)] = filled.ljust(len(_BYTE_RANGE))
        return WrittenRevision(text, hole_start, hole_end)

    def _write_crossreference(self, text: bytearray, start: int, offsets: dict[Ref, int]) -> Dictionary:
        """Append a cross-reference of the same kind as the previous section, and return its trailer."""
        previous = self.reader.crossreference
        entries = {ref.number: CrossReferenceEntry(False, offset, ref.generation) for ref, offset in offsets.items()}
        trailer = self._trailer(text)
        if previous.sections[0].is_stream:
            trailer[b"/Size"] = self._next + 1
            entries[self._next] = CrossReferenceEntry(False, start, 0)
            text += crossreference_stream(Ref(self._next), entries, trailer)
        else:
            text += crossreference_table(entries, trailer)
        text += b"startxref\n%d\n%%%%EOF\n" % start
        return trailer

    def _trailer(self, text: bytearray) -> Dictionary:
        old = self.reader.trailer
        trailer: Dictionary = {key: old[key] for key in (b"/Root", b"/Encrypt") if key in old}
        # Poppler searches the whole file for the object of an /Info that is no dictionary.
        if isinstance(self.reader.resolve(old.get(b"/Info")), dict):
            trailer[b"/Info"] = old[b"/Info"]
        fresh = b"<" + hashlib.sha256(text).hexdigest()[:32].encode() + b">"
        # The first element is part of the key of an encrypted file, which may have been made without one.
        identifier = self.reader.resolve(old.get(b"/ID")) or [b"<>" if b"/Encrypt" in old else fresh]
        trailer[b"/ID"] = [identifier[0], fresh]
        trailer[b"/Size"] = self._next
        trailer[b"/Prev"] = self.reader.crossreference.start
        return trailer


def crossreference_table(entries: Mapping[int, CrossReferenceEntry], trailer: Dictionary) -> bytes:
    """Return a table and its trailer. A table cannot locate objects inside object streams."""
    lines = [b"xref\n"]
    for run in runs(sorted(entries)):
        lines.append(b"%d %d\n" % (run[0], len(run)))
        lines += [b"%010d %05d n \n" % (entries[number].place, entries[number].index) for number in run]
    return b"".join([*lines, b"trailer\n", serialized(trailer), b"\n"])


def crossreference_stream(ref: Ref, entries: Mapping[int, CrossReferenceEntry], trailer: Dictionary) -> bytes:
    """Return the whole stream object ``ref``, its own trailer included; ``entries`` must contain ``ref``."""
    listed = runs(sorted(entries))
    rows = [
        (b"\x02" if entry.packed else b"\x01") + entry.place.to_bytes(5, "big") + entry.index.to_bytes(2, "big")
        for run in listed
        for entry in (entries[number] for number in run)
    ]
    data = zlib.compress(b"".join(rows))
    dictionary = {
        b"/Type": b"/XRef",
        b"/W": [1, 5, 2],
        b"/Index": [part for run in listed for part in (run[0], len(run))],
        b"/Filter": b"/FlateDecode",
        b"/Length": len(data),
        **trailer,
    }
    return b"%d %d obj\n" % ref + serialized(dictionary) + b"\nstream\n" + data + b"\nendstream\nendobj\n"


class PendingRevision(PdfReader):
    """Read objects as a written revision leaves them. What is written after it equals what is written after the joined
    file, without copying that file: for a large one, the copy is the most expensive step of a seal."""

    def __init__(self, revision: Revision) -> None:
        before = revision.reader
        self._revision, self.encryption, self.ends_line = revision, before.encryption, True
        start, self.size, self.trailer = revision.section
        self.crossreference = before.crossreference.with_section(start, self.trailer)

    def object(self, ref: Ref) -> Any:
        return self._revision.resolve(ref)

    def highest_mentioned(self, first: int, last: int) -> int:
        """Return the result for the file before: the revision refers to nothing that is missing."""
        return self._revision.reader.highest_mentioned(first, last)
