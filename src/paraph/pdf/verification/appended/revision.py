"""One incremental update (ISO 32000-2, 7.5.4, 7.5.6 and 7.5.8), read so strictly that no reader can see anything else
in it.

Every byte belongs to an object, which the cross-reference lists at its exact offset, or to the cross-reference, its
trailer and the lines that end the update. White space alone may stand between them. Nothing is repaired.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from paraph.pdf.structure.crossreference import LARGEST_NUMBER
from paraph.pdf.structure.objects import LENIENT_GAP, Dictionary, PdfStream, Ref, Unsafe
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.unpacking import unpacked
from paraph.pdf.verification.appended.view import (
    NATURAL,
    SPACE,
    AppendedRevision,
    NotPermitted,
    is_string,
    meaning,
    strict_object,
)

_OBJECT = re.compile(SPACE + rb"(" + NATURAL + rb") (" + NATURAL + rb") obj(?=[\t\n\r <\[(/])")
_STREAM = re.compile(SPACE + rb"stream(?:\r\n|\n)")
_ENDSTREAM = re.compile(rb"(?:\r\n|\n|\r)?endstream(?=[\t\n\r ])")
_ENDOBJ = re.compile(SPACE + rb"endobj(?=[\t\n\r ])")
_TABLE = re.compile(SPACE + rb"(?=xref[\r\n])")
_END = re.compile(SPACE + rb"startxref(?:\r\n|\n|\r)(" + NATURAL + rb")(?:\r\n|\n|\r)%%EOF(?:\r\n|\n|\r)?+")
_LOOKS_LIKE_AN_OBJECT = re.compile(rb"(?<![-+.\d])[-+.\d]++" + LENIENT_GAP + rb"++[-+.\d]++" + LENIENT_GAP + rb"*+obj")
_CHECKSUM = b"/DocChecksum"
_KEYS = {b"/Size", b"/Root", b"/Prev", b"/ID", b"/Info", b"/Encrypt", _CHECKSUM}
_MOST_OBJECTS = 20_000
_WIDTHS = ([1, 5, 2], [1, 8, 2], *([1, place, generation] for place in (2, 3, 4) for generation in (1, 2)))
"""Widths of the columns of a cross-reference stream, as this service, pyHanko and others write them. Readers without
room for other widths repair the file."""
_WIDTHS_OF_COPIES = ([1, 2, 0], [1, 3, 0], [1, 4, 0])
_HEAD = re.compile(rb"xref(?:\r\n|\n|\r)")
_RUN = re.compile(rb"(" + NATURAL + rb") ([1-9]\d{0,9}) ?(?:\r\n|\n|\r)")
_ENTRY = re.compile(rb"(\d{10}) (\d{5}) ([nf])(?: \n| \r|\r\n)")
_TRAILER = re.compile(rb"trailer" + SPACE + rb"(?=<<)")
_FREE_HEAD = (0, 65535)
_OF_THE_STREAM = (b"/Type", b"/W", b"/Index", b"/Filter", b"/Length")
_FLATE = (None, b"/FlateDecode", [b"/FlateDecode"])
_LARGEST = 1 << 20
_TWICE = "the cross-reference lists an object twice, or out of order"


@dataclass(frozen=True)
class _Listing:
    """``offsets``: where the cross-reference says that each object stands; ``trailer``: without what only describes
    a cross-reference stream."""

    offsets: dict[Ref, int]
    trailer: Dictionary


def read_revision(before: PdfReader, pdf: bytes) -> AppendedRevision:
    """Read the update that follows the part of ``pdf`` that ``before`` reads. Raise :class:`NotPermitted`."""
    reading = _Reading(before, pdf)
    listing = reading.objects_and_listing()
    end = reading.end()
    _check_generations(before, reading.offsets)
    _check_trailer(before, listing.trailer, [ref.number for ref in reading.offsets])
    return AppendedRevision(end, reading.decrypted(), listing.trailer, reading.stream_listing or reading.copy)


class _Reading:
    """The reading of an update, from the end of ``before`` on. ``offsets``: where each object stands;
    ``stream_listing``: the cross-reference stream, ``None`` for a table; ``copy``: one that repeats a table, as PDFBox
    writes it."""

    def __init__(self, before: PdfReader, pdf: bytes) -> None:
        self._before = before
        self._pdf = pdf
        self._position = before.size
        self._start = 0
        self.stream_listing: Ref | None = None
        self._numbers = {0}
        self._objects: dict[Ref, Any] = {}
        self.copy: Ref | None = None
        self._lengths: dict[Ref, int | None] = {}
        self.offsets: dict[Ref, int] = {}
        if not before.ends_line and pdf[before.size : before.size + 1] not in (b"\n", b"\r"):
            raise NotPermitted("the bytes do not begin on a line of their own")

    def objects_and_listing(self) -> _Listing:
        """Read all objects and the cross-reference that lists them."""
        last = None
        while match := _OBJECT.match(self._pdf, self._position):
            last = Ref(int(match[1]), int(match[2]))
            if last.number in self._numbers:
                raise NotPermitted(f"object {last.number} stands there twice")
            if len(self._numbers) == _MOST_OBJECTS:
                raise NotPermitted("there are too many objects")
            self._numbers.add(last.number)
            self.offsets[last] = match.start(1)
            self._objects[last] = self._object(match.end())
        if any(self._objects.get(ref) != length for ref, length in self._lengths.items()):
            raise NotPermitted("a stream has a wrong length")
        listing = self._listing(last)
        self._set_copy_aside(last, listing)
        needs_no_entry = {self.stream_listing} - listing.offsets.keys()
        if listing.offsets != {ref: place for ref, place in self.offsets.items() if ref not in needs_no_entry}:
            raise NotPermitted("the cross-reference lists other objects than stand there")
        return listing

    def end(self) -> int:
        """Read the lines that end the update, and return where it ends."""
        match = _END.match(self._pdf, self._position)
        if match is None or int(match[1]) != self._start:
            raise NotPermitted("what should end an update does not, or does not point at its cross-reference")
        self._check_nothing_hidden(match.end())
        return match.end()

    def decrypted(self) -> dict[Ref, Any]:
        """Return the objects, decrypted, without any cross-reference stream."""
        encryption = self._before.encryption
        return {
            ref: encryption.decrypt(ref, value) if encryption else value
            for ref, value in self._objects.items()
            if ref not in (self.stream_listing, self.copy)
        }

    def _set_copy_aside(self, last: Ref | None, listing: _Listing) -> None:
        """Note a cross-reference stream beside a table. Raise :class:`NotPermitted` where it says something else."""
        value = self._objects[last] if last else None
        if self.stream_listing or not isinstance(value, PdfStream) or value.dictionary.get(b"/Type") != b"/XRef":
            return
        copied = _read_stream_listing(value, (*_WIDTHS, *_WIDTHS_OF_COPIES))
        if meaning(copied.trailer) != meaning(listing.trailer) or not copied.offsets.items() <= listing.offsets.items():
            raise NotPermitted("two cross-references differ")
        self.copy = last

    def _object(self, position: int) -> Any:
        value, position = strict_object(self._pdf, position)
        if isinstance(value, dict) and (match := _STREAM.match(self._pdf, position)):
            value = PdfStream(value, self._stream_data(value, match.end()))
            position = match.end() + len(value.data)
            position = self._matched(_ENDSTREAM, position, "a stream has a wrong length")
        self._position = self._matched(_ENDOBJ, position, "an object does not end")
        return value

    def _stream_data(self, dictionary: Dictionary, start: int) -> bytes:
        length = dictionary.get(b"/Length")
        if type(length) is Ref:
            length = self._stated_length(length, start)
        if type(length) is not int or not 0 <= length <= len(self._pdf) - start:
            raise NotPermitted("a stream does not state its length")
        return self._pdf[start : start + length]

    def _stated_length(self, ref: Ref, start: int) -> int | None:
        """Return the length that an object after the stream states; None where the object is not a number. Programs
        that write streams before they know how long these are refer to such an object."""
        number = re.compile(rb"[\r\n]%d %d obj[\t\n\r ]+(" % ref + NATURAL + rb")[\t\n\r ]+endobj")
        match = number.search(self._pdf, start)
        self._lengths[ref] = int(match[1]) if match else None
        return self._lengths[ref]

    def _check_nothing_hidden(self, end: int) -> None:
        """Raise :class:`NotPermitted` where streams or strings hold what a reader that repairs files would find."""
        text = self._pdf[self._before.size : end]
        tables = int(self.stream_listing is None)
        words = {b"startxref": 1, b"%%EOF": 1, b"xref": 1 + tables, b"trailer": tables}
        if any(text.count(word) != count for word, count in words.items()):
            raise NotPermitted("something in it looks like the end of an update")
        found = len(_LOOKS_LIKE_AN_OBJECT.findall(text))
        if found != len(self.offsets) or text.count(b"endobj") != found:
            raise NotPermitted("something in it looks like an object")

    def _matched(self, pattern: re.Pattern[bytes], position: int, otherwise: str) -> int:
        match = pattern.match(self._pdf, position)
        if match is None:
            raise NotPermitted(otherwise)
        return match.end()

    def _listing(self, last: Ref | None) -> _Listing:
        is_stream = self._before.crossreference.sections[0].is_stream
        if table := _TABLE.match(self._pdf, self._position):
            if is_stream:
                raise NotPermitted("the cross-reference is of another kind than the one before")
            self._start = table.end()
            listing, self._position = _read_table(self._pdf, self._start)
            return listing
        if last is None or not is_stream:
            raise NotPermitted("what follows cannot be read strictly as an update")
        if last.number < self._before.crossreference.next_number:
            raise NotPermitted(f"the cross-reference stands in the place of object {last.number}")
        self._start, self.stream_listing = self.offsets[last], last
        return _read_stream_listing(self._objects[last])


def _read_table(pdf: bytes, start: int) -> tuple[_Listing, int]:
    """Read the table at ``start`` with its trailer; also return where they end. Raise :class:`NotPermitted`."""
    head = _HEAD.match(pdf, start)
    position, offsets, next_number = head.end() if head else start, dict[Ref, int](), 0
    while head and (run := _RUN.match(pdf, position)):
        first, count, position = int(run[1]), int(run[2]), run.end()
        if first < next_number:
            raise NotPermitted(_TWICE)
        next_number = first + count
        for number in range(first, next_number):
            entry = _ENTRY.match(pdf, position)
            if entry is None:
                raise NotPermitted("a line of the cross-reference is not 20 bytes long")
            position = entry.end()
            if entry[3] == b"n":
                offsets[Ref(number, int(entry[2]))] = int(entry[1])
            elif number or (int(entry[1]), int(entry[2])) != _FREE_HEAD:
                raise NotPermitted(f"the cross-reference frees object {number}")
    match = _TRAILER.match(pdf, position)
    if match is None:
        raise NotPermitted("the cross-reference is not followed by its trailer")
    trailer, position = strict_object(pdf, match.end())
    return _Listing(offsets, trailer), position


def _read_stream_listing(stream: Any, allowed: Sequence[list[int]] = _WIDTHS) -> _Listing:
    """Read a cross-reference stream. Raise :class:`NotPermitted`."""
    dictionary = stream.dictionary if isinstance(stream, PdfStream) else {}
    widths, index = dictionary.get(b"/W"), dictionary.get(b"/Index")
    if dictionary.get(b"/Type") != b"/XRef" or dictionary.get(b"/Filter") not in _FLATE:
        raise NotPermitted("what follows does not end with a cross-reference that can be read strictly")
    if not _are_numbers(widths) or widths not in allowed:
        raise NotPermitted("the cross-reference has odd columns")
    if not _are_numbers(index) or len(index) % 2 or len(index) == 0:
        raise NotPermitted("the cross-reference does not say what it lists")
    try:
        rows = unpacked(stream, _LARGEST, complete=True)
    except Unsafe as error:
        raise NotPermitted(f"{error}") from error
    offsets = dict[Ref, int]()
    for number, (kind, place, generation) in zip(_numbers(index), _rows(rows, widths, sum(index[1::2])), strict=True):
        if kind == 1:
            offsets[Ref(number, generation)] = place
        elif kind or number:
            raise NotPermitted(f"the cross-reference frees object {number}, or has it in an object stream")
    return _Listing(offsets, {key: value for key, value in dictionary.items() if key not in _OF_THE_STREAM})


def _are_numbers(value: Any) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)


def _numbers(index: list[int]) -> Iterator[int]:
    next_number = 0
    for first, count in zip(index[::2], index[1::2], strict=True):
        if first < next_number or not count:
            raise NotPermitted(_TWICE)
        next_number = first + count
        yield from range(first, next_number)


def _rows(rows: bytes, widths: list[int], count: int) -> Iterator[tuple[int, int, int]]:
    a, b, c = widths
    width = a + b + c
    if len(rows) != width * count:
        raise NotPermitted("the cross-reference is longer or shorter than it says")
    for start in range(0, len(rows), width):
        row = rows[start : start + width]
        yield int.from_bytes(row[:a], "big"), int.from_bytes(row[a : a + b], "big"), int.from_bytes(row[a + b :], "big")


def _check_generations(before: PdfReader, refs: Iterable[Ref]) -> None:
    """Raise :class:`NotPermitted` for an object of another generation than before: references to it lead nowhere."""
    for ref in refs:
        entry = before.crossreference.entry(ref.number) if ref.number < before.crossreference.next_number else None
        if ref.generation != (entry.index if entry and not entry.packed else 0):
            raise NotPermitted(f"object {ref.number} has another generation")


def _check_trailer(before: PdfReader, trailer: Dictionary, numbers: list[int]) -> None:
    old = before.trailer
    kept = {key for key, value in trailer.items() if _is_kept(key, value, old)}
    if not trailer.keys() <= _KEYS | kept or not _is_known_checksum(before, trailer.get(_CHECKSUM)):
        raise NotPermitted("the trailer has other entries than an update needs")
    if trailer.get(b"/Root") != old.get(b"/Root") or meaning(trailer.get(b"/Encrypt")) != meaning(old.get(b"/Encrypt")):
        raise NotPermitted("the trailer names another catalog or another encryption")
    if trailer.get(b"/Prev") != before.crossreference.start or type(trailer.get(b"/Prev")) is not int:
        raise NotPermitted("the trailer does not point at the cross-reference before")
    first = before.crossreference.next_number
    size = max([first, *(number + 1 for number in numbers)])
    if size - first > sum(number >= first for number in numbers) + 1:  # pyHanko leaves out the first one
        raise NotPermitted("it skips numbers of objects")
    if size - 1 > LARGEST_NUMBER:
        raise NotPermitted("readers have no room for its objects")
    if trailer.get(b"/Size") != size:
        raise NotPermitted("the trailer states a wrong number of objects")
    identifier, earlier = trailer.get(b"/ID"), before.resolve(old.get(b"/ID"))
    is_key = before.encryption is not None and _are_strings(earlier)  # elsewhere some programs write a new one
    if not _are_strings(identifier) or (is_key and meaning(identifier[0]) != meaning(earlier[0])):
        raise NotPermitted("the trailer identifies another file")


def _is_kept(key: bytes, value: Any, old: Dictionary) -> bool:
    """Return whether the trailer before had the entry too, and it says nothing to readers: PDFBox copies what
    LibreOffice says about the document that it encloses, and renumbers it."""
    return key == b"/AdditionalStreams" and key in old and isinstance(value, list)


def _is_known_checksum(before: PdfReader, value: Any) -> bool:
    """Return whether the value, which LibreOffice writes and other programs repeat, stood in the file before."""
    return value is None or any(section.trailer.get(_CHECKSUM) == value for section in before.crossreference.sections)


def _are_strings(value: Any) -> TypeGuard[list[bytes]]:
    return isinstance(value, list) and len(value) == 2 and all(is_string(item) for item in value)
