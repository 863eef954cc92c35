"""One incremental update (ISO 32000-2, 7.5.6), read so strictly that no reader can see anything else in it.

Every byte belongs to an object, which the cross-reference lists at its exact offset, or to the cross-reference, its
trailer and the lines that end the update. White space alone may stand between them. Nothing is repaired.
"""

import re
from dataclasses import dataclass
from typing import Any, TypeGuard

from paraph.pdf.structure.objects import Dictionary, PdfStream, Ref
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.verification.appended.listing import Listing, read_stream_listing, read_table
from paraph.pdf.verification.appended.refused import NotPermitted
from paraph.pdf.verification.appended.syntax import NATURAL, SPACE, is_string, meaning, strict_object

_OBJECT = re.compile(SPACE + rb"(" + NATURAL + rb") (" + NATURAL + rb") obj(?=[\t\n\r <\[(/])")
_STREAM = re.compile(SPACE + rb"stream(?:\r\n|\n)")
_ENDSTREAM = re.compile(rb"(?:\r\n|\n|\r)?endstream(?=[\t\n\r ])")
_ENDOBJ = re.compile(SPACE + rb"endobj(?=[\t\n\r ])")
_TABLE = re.compile(SPACE + rb"(?=xref[\r\n])")
_END = re.compile(SPACE + rb"startxref(?:\r\n|\n|\r)(" + NATURAL + rb")(?:\r\n|\n|\r)%%EOF(?:\r\n|\n|\r)?+")
_LOOKS_LIKE_AN_OBJECT = re.compile(rb"\d[\x00\t\n\x0c\r ]+\d+[\x00\t\n\x0c\r ]+obj")
_CHECKSUM = b"/DocChecksum"
_KEYS = {b"/Size", b"/Root", b"/Prev", b"/ID", b"/Info", b"/Encrypt", _CHECKSUM}
_MOST_OBJECTS = 20_000


@dataclass(frozen=True)
class AppendedRevision:
    """One update. ``objects``: decrypted, without its cross-reference stream; it takes the bytes from ``start`` to
    ``end``."""

    start: int
    end: int
    objects: dict[Ref, Any]
    trailer: Dictionary


def read_revision(before: PdfReader, pdf: bytes) -> AppendedRevision:
    """Read the update that follows the file which ``before`` reads, and with which ``pdf`` begins. Raises
    :class:`NotPermitted`."""
    reading = _Reading(before, pdf)
    listing = reading.objects_and_listing()
    end = reading.end()
    _check_trailer(before, listing.trailer, [ref.number for ref in reading.offsets])
    return AppendedRevision(before.size, end, reading.decrypted(), listing.trailer)


class _Reading:
    """Read from the end of ``before`` on. ``offsets``: where each object stands."""

    def __init__(self, before: PdfReader, pdf: bytes) -> None:
        self._before = before
        self._pdf = pdf
        self._position = before.size
        self._start = 0
        self._stream_listing: Ref | None = None
        self._numbers = {0}
        self._objects: dict[Ref, Any] = {}
        self.offsets: dict[Ref, int] = {}
        if not before.ends_line and pdf[before.size : before.size + 1] not in (b"\n", b"\r"):
            raise NotPermitted("the bytes do not begin on a line of their own")

    def objects_and_listing(self) -> Listing:
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
        listing = self._listing(last)
        needs_no_entry = {self._stream_listing} - listing.offsets.keys()
        if listing.offsets != {ref: place for ref, place in self.offsets.items() if ref not in needs_no_entry}:
            raise NotPermitted("the cross-reference lists other objects than stand there")
        return listing

    def end(self) -> int:
        """Read the lines that end the update, and return where it ends."""
        match = _END.match(self._pdf, self._position)
        if match is None or int(match[1]) != self._start:
            raise NotPermitted("what should end an update does not, or does not point at its cross-reference")
        return match.end()

    def decrypted(self) -> dict[Ref, Any]:
        """Return the objects but for the cross-reference stream."""
        encryption = self._before.encryption
        return {
            ref: encryption.decrypt(ref, value) if encryption else value
            for ref, value in self._objects.items()
            if ref != self._stream_listing
        }

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
        if type(length) is not int or not 0 <= length <= len(self._pdf) - start:
            raise NotPermitted("a stream does not state its length")
        data = self._pdf[start : start + length]
        if _LOOKS_LIKE_AN_OBJECT.search(data):  # a reader that searches for objects would find it
            raise NotPermitted("a stream holds what looks like an object")
        return data

    def _matched(self, pattern: re.Pattern[bytes], position: int, otherwise: str) -> int:
        match = pattern.match(self._pdf, position)
        if match is None:
            raise NotPermitted(otherwise)
        return match.end()

    def _listing(self, last: Ref | None) -> Listing:
        is_stream = self._before.crossreference.sections[0].is_stream
        if table := _TABLE.match(self._pdf, self._position):
            if is_stream:
                raise NotPermitted("the cross-reference is of another kind than the one before")
            self._start = table.end()
            listing, self._position = read_table(self._pdf, self._start)
            return listing
        if last is None or not is_stream:
            raise NotPermitted("what follows cannot be read strictly as an update")
        self._start, self._stream_listing = self.offsets[last], last
        return read_stream_listing(self._objects[last])


def _check_trailer(before: PdfReader, trailer: Dictionary, numbers: list[int]) -> None:
    old = before.trailer
    if not trailer.keys() <= _KEYS or not _is_known_checksum(before, trailer.get(_CHECKSUM)):
        raise NotPermitted("the trailer has other entries than an update needs")
    if trailer.get(b"/Root") != old.get(b"/Root") or meaning(trailer.get(b"/Encrypt")) != meaning(old.get(b"/Encrypt")):
        raise NotPermitted("the trailer names another catalog or another encryption")
    if trailer.get(b"/Prev") != before.crossreference.start or type(trailer.get(b"/Prev")) is not int:
        raise NotPermitted("the trailer does not point at the cross-reference before")
    if trailer.get(b"/Size") != max([before.crossreference.next_number, *(number + 1 for number in numbers)]):
        raise NotPermitted("the trailer states a wrong number of objects")
    identifier, earlier = trailer.get(b"/ID"), before.resolve(old.get(b"/ID"))
    if not _are_strings(identifier) or (_are_strings(earlier) and meaning(identifier[0]) != meaning(earlier[0])):
        raise NotPermitted("the trailer identifies another file")


def _is_known_checksum(before: PdfReader, value: Any) -> bool:
    """Whether the value, which LibreOffice writes and other programs repeat, stood in the file before."""
    return value is None or any(section.trailer.get(_CHECKSUM) == value for section in before.crossreference.sections)


def _are_strings(value: Any) -> TypeGuard[list[bytes]]:
    return isinstance(value, list) and len(value) == 2 and all(is_string(item) for item in value)
