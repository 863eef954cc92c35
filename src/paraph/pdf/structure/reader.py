"""A fast reader of plainly written PDFs: what sealing must know of a file, and nothing else.

It reads objects where the cross-reference locates them and checks that they are there. It repairs nothing: any disorder
raises :class:`Unsafe`, and sealing takes another way.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from operator import ge
from typing import Any

from paraph.pdf.structure.crossreference import CrossReference, CrossReferenceEntry, places
from paraph.pdf.structure.encryption import FileEncryption, open_encryption
from paraph.pdf.structure.objects import GAP, Dictionary, PdfStream, Ref, Unsafe, followed, parse
from paraph.pdf.structure.unpacking import LARGEST, unpacked

OBJECT_HEAD = re.compile(rb"[\x00\t\n\x0c\r ]*(\d+)[\x00\t\n\x0c\r ]+(\d+)[\x00\t\n\x0c\r ]+obj")
STREAM = re.compile(GAP + rb"stream(?:\r\n|\n|\r)")
_ENDSTREAM = re.compile(rb"[\x00\t\n\x0c\r ]*endstream")
_ENDOBJ = re.compile(GAP + rb"endobj")
_AFTER_NUMBER, _NUMBER_BEFORE, _LONGEST_NUMBER = b" 0 R", re.compile(rb"[0-9]+\Z"), 10
_MOST_DECODED = 256 << 20  # bytes of all object and cross-reference streams, which stay in memory


class PdfReader:
    """An open file. Returned objects are shared and must not be modified. ``is_closed``: an earlier search found that
    nothing in the file refers to an object beyond its last (:meth:`highest_mentioned`)."""

    def __init__(self, data: bytes, *, is_closed: bool = False) -> None:
        if data[:5] != b"%PDF-":
            raise Unsafe("the file does not begin with its header")
        self.data, self.is_closed = data, is_closed
        self.size, self.ends_line = len(data), data[-1:] in (b"\n", b"\r")
        self._objects: dict[Ref, Any] = {}
        self._packed: dict[int, _ObjectStream] = {}
        self._left = _MOST_DECODED
        self.encryption: FileEncryption | None = None  # cross-reference streams are never encrypted
        self.crossreference = CrossReference(data, self._decoded, self._stream_at)
        self.trailer = self.crossreference.trailer
        if self.trailer.get(b"/Encrypt") is not None:
            self.encryption = open_encryption(data, self.resolve(self.trailer[b"/Encrypt"]))

    def resolve(self, value: Any) -> Any:
        """Follow references until ``value`` is an object."""
        return followed(value, self.object) if type(value) is Ref else value

    def object(self, ref: Ref) -> Any:
        """Return the indirect object; ``None`` if it is free or missing."""
        if ref not in self._objects:
            entry = self.crossreference.entry(ref.number)
            self._objects[ref] = None if entry is None else self._read(ref, entry)
        return self._objects[ref]

    def dictionary(self, value: Any) -> Dictionary:
        """Resolve ``value`` to a dictionary. Raise :class:`Unsafe` for anything else."""
        result = self.resolve(value)
        if type(result) is not dict:
            raise Unsafe("a dictionary is missing")
        return result

    def check_packing(self) -> None:
        """Raise :class:`Unsafe` unless :meth:`_ObjectStream.check` holds for every object stream in use."""
        for container in self._containers():
            self._container(container).check()

    def packed_texts(self) -> Iterator[tuple[bytes, list[int]]]:
        """Yield the unpacked text of every object stream, and where in it each object begins. Raise
        :class:`Unsafe`."""
        for container in self._containers():
            yield self._container(container).data, self._container(container).places

    def _containers(self) -> Iterable[int]:
        if not any(section.is_stream for section in self.crossreference.sections):
            return ()
        entries = map(self.crossreference.entry, range(self.crossreference.next_number))
        return dict.fromkeys(entry.place for entry in entries if entry and entry.packed)

    def highest_mentioned(self, first: int, last: int) -> int:
        """Return the highest object number from ``first`` to ``last`` to which something may refer, whether the object
        exists or not; ``first - 1`` for none. Raise :class:`Unsafe`."""
        found, digits = first - 1, len(str(first))
        if self.is_closed:
            return found
        for text in (self.data, *(text for text, _ in self.packed_texts())):
            end = text.find(_AFTER_NUMBER)
            while end >= 0:
                if text[max(0, end - digits) : end].isdigit():  # few other numbers are as long
                    number = _NUMBER_BEFORE.search(text, max(0, end - _LONGEST_NUMBER), end)
                    if number and found < int(number[0]) <= last:
                        found = int(number[0])
                end = text.find(_AFTER_NUMBER, end + 1)
        return found

    def is_within_stream(self, position: int) -> bool:
        """Return whether a byte belongs to the data of a stream that is the last object to begin before it."""
        index = bisect_right(self._places, position)
        head = OBJECT_HEAD.match(self.data, self._places[index - 1]) if index else None
        if head is None:
            return False
        try:
            dictionary, end = parse(self.data, head.end())
            start = STREAM.match(self.data, end) if type(dictionary) is dict else None
            return start is not None and 0 <= position - start.end() < self.length_of(dictionary, start.end())
        except Unsafe:
            return False

    @cached_property
    def _places(self) -> list[int]:
        return places(self.data, self.crossreference.sections)

    def unpack(self, container: int, stream: PdfStream) -> bytes:
        """Unpack an object stream that the caller has already located, and return its text. Raise :class:`Unsafe`
        where :meth:`_ObjectStream.check` does."""
        self._packed[container] = _ObjectStream(stream, self._decoded)
        self._packed[container].check()
        return self._packed[container].data

    def length_of(self, dictionary: Dictionary, start: int) -> int:
        """Return the length of the stream data at ``start``. Raise :class:`Unsafe` unless ``endstream`` follows it."""
        length = dictionary.get(b"/Length")
        if type(length) is Ref:
            length = self.object(length)
        if not isinstance(length, int) or length < 0 or not _ENDSTREAM.match(self.data, start + length):
            raise Unsafe("a stream has a wrong length")
        return length

    def _read(self, ref: Ref, entry: CrossReferenceEntry) -> Any:
        if entry.packed:
            return self._container(entry.place).object(ref.number, entry.index)
        if entry.index != ref.generation:
            raise Unsafe(f"object {ref.number} has another generation")
        return self._object_at(entry.place, ref)

    def _object_at(self, position: int, expected: Ref | None) -> Any:
        match = OBJECT_HEAD.match(self.data, position)
        if match is None or (expected is not None and (int(match[1]), int(match[2])) != expected):
            raise Unsafe("an object is not where the cross-reference says")
        value, position = parse(self.data, match.end())
        if type(value) is dict and (found := STREAM.match(self.data, position)):
            start = found.end()
            value = PdfStream(value, self.data[start : start + self.length_of(value, start)])
        elif not _ENDOBJ.match(self.data, position):
            raise Unsafe("an object does not end")
        return self.encryption.decrypt(expected, value) if self.encryption and expected else value

    def _stream_at(self, position: int) -> PdfStream:
        value = self._object_at(position, None)
        if not isinstance(value, PdfStream):
            raise Unsafe("a stream is missing")
        return value

    def _container(self, number: int) -> "_ObjectStream":
        if number not in self._packed:
            entry = self.crossreference.entry(number)
            if entry is None or entry.packed:
                raise Unsafe("an object stream is missing")
            stream = self._object_at(entry.place, Ref(number, entry.index))
            self._packed[number] = _ObjectStream(stream, self._decoded)
        return self._packed[number]

    def _decoded(self, stream: PdfStream) -> bytes:
        """Decode a stream that stays in memory, within the budget for all of them."""
        data = unpacked(stream, min(self._left, LARGEST))
        self._left -= len(data)
        return data


class _ObjectStream:
    """The objects in one object stream (ISO 32000-1, 7.5.7)."""

    def __init__(self, stream: Any, decoded: Callable[[PdfStream], bytes]) -> None:
        first = stream.dictionary.get(b"/First") if isinstance(stream, PdfStream) else None
        if not isinstance(first, int):
            raise Unsafe("an object stream is missing, or has no /First")
        self.data = decoded(stream)
        self._first = first
        self._count = stream.dictionary.get(b"/N")
        if self.data[:first].translate(None, b"0123456789\t\n\x0b\x0c\r "):
            raise Unsafe("an object stream does not begin with numbers")

    @cached_property
    def _listed(self) -> list[bytes]:
        return self.data[: self._first].split()

    @cached_property
    def places(self) -> list[int]:
        """Where each object begins."""
        return [self._first + int(place) for place in self._listed[1::2]]

    def check(self) -> None:
        """Raise :class:`Unsafe` unless the stream lists as many objects as it says, each once and in the order in
        which they stand: some readers go by the list, others by the cross-reference."""
        listed = list(map(int, self._listed))
        places = listed[1::2]
        if len(listed) % 2 or len(places) != self._count or len(set(listed[::2])) != len(places):
            raise Unsafe("an object stream lists an object twice")
        if any(map(ge, places, places[1:])):
            raise Unsafe("the objects of an object stream are not in order")

    def object(self, number: int, index: int) -> Any:
        """Parse object ``number``, the ``index``-th of the stream. Raise :class:`Unsafe` if it is another one."""
        listed = self._listed[2 * index : 2 * index + 2]
        if len(listed) != 2 or int(listed[0]) != number:
            raise Unsafe(f"object {number} is not where the cross-reference says")
        return parse(self.data, self.places[index])[0]
