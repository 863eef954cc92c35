"""A PDF written byte by byte, so that every part of it can be wrong on purpose."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

Encrypt = Callable[[int, int, bytes], bytes]
"""Turns an object's number and generation, and the data of a stream or string, into the data in the file."""


class Place(NamedTuple):
    """An entry of a cross-reference: offset and generation, or object stream and index in it."""

    at: int
    generation: int
    packed: bool = False


@dataclass
class Raw:
    """The bytes so far, and the entries of the section that is being written."""

    data: bytearray = field(default_factory=lambda: bytearray(b"%PDF-1.7\n%\xc2\xb5\xc2\xb6\n"))
    places: dict[int, Place] = field(default_factory=dict)
    trailer: bytes = b"/ID[<00112233445566778899aabbccddeeff><00112233445566778899aabbccddeeff>]"
    encrypt: Encrypt | None = None
    highest: int = 0
    sections: list[int] = field(default_factory=list)
    in_streams: bool = False

    def put(self, number: int, body: bytes, generation: int = 0, *, listed: bool = True) -> "Raw":
        """Add an object; it is in the cross-reference only if ``listed``."""
        if listed:
            self.places[number] = Place(len(self.data), generation)
        self.highest = max(self.highest, number)
        self.data += b"%d %d obj\n%b\nendobj\n" % (number, generation, body)
        return self

    def stream(
        self,
        number: int,
        content: bytes,
        entries: bytes = b"",
        generation: int = 0,
        *,
        listed: bool = True,
        length: int | None = None,
        plain: bool = False,
    ) -> "Raw":
        """Add a stream; ``length`` is what /Length says instead of the truth; ``plain``: it is never encrypted."""
        if self.encrypt and not plain:
            content = self.encrypt(number, generation, content)
        said = len(content) if length is None else length
        body = b"<</Length %d%b>>\nstream\n%b\nendstream" % (said, entries, content)
        return self.put(number, body, generation, listed=listed)

    def string(self, number: int, text: bytes) -> bytes:
        """Return a string of object ``number`` as it stands in the file."""
        return b"<" + (self.encrypt(number, 0, text) if self.encrypt else text).hex().encode() + b">"

    def pack(self, container: int, objects: dict[int, bytes], *, listed: bool = True) -> "Raw":
        """Add objects in an object stream with the number ``container``."""
        heads, bodies = b"", b""
        for index, (number, body) in enumerate(objects.items()):
            heads += b"%d %d " % (number, len(bodies))
            bodies += body + b"\n"
            self.highest = max(self.highest, number)
            if listed:
                self.places[number] = Place(container, index, packed=True)
        packed = zlib.compress(heads + bodies)
        entries = b"/Type/ObjStm/N %d/First %d/Filter/FlateDecode" % (len(objects), len(heads))
        return self.stream(container, packed, entries, listed=listed)

    def close(
        self,
        entries: bytes = b"",
        *,
        as_stream: bool = False,
        size: int | None = None,
        previous: int | None = None,
        tail: bytes = b"startxref\n%d\n%%%%EOF\n",
    ) -> "Raw":
        """Add a cross-reference of what is listed since the last one: a stream if something is packed, if the section
        before is a stream, or if ``as_stream``. ``tail`` follows, with the offset in place of its %d."""
        as_stream = as_stream or self.in_streams or any(place.packed for place in self.places.values())
        self.in_streams = as_stream
        start = len(self.data)
        if previous is None and self.sections:
            previous = self.sections[-1]
        said = self.highest + 1 + as_stream if size is None else size
        trailer = b"/Size %d/Root 1 0 R%b%b" % (said, self.trailer, entries)
        if previous is not None:
            trailer += b"/Prev %d" % previous
        if as_stream:
            self._stream_section(trailer)
        else:
            self.data += self.table() + b"trailer\n<<" + trailer + b">>\n"
        self.sections.append(start)
        self.places = {}
        self.data += tail % start if b"%d" in tail else tail.replace(b"%%", b"%")
        return self

    def table(self) -> bytes:
        """Return the cross-reference as a classic table, which includes object 0 in the first section."""
        lines = b"" if self.sections else b"0 1\n0000000000 65535 f \n"
        for number, place in sorted(self.places.items()):
            lines += b"%d 1\n%010d %05d n \n" % (number, place.at, place.generation)
        return b"xref\n" + lines

    def _stream_section(self, trailer: bytes) -> None:
        number, start = self.highest + 1, len(self.data)
        self.places[number] = Place(start, 0)
        index, rows = b"", b""
        for listed, place in sorted(self.places.items()):
            index += b"%d 1 " % listed
            rows += (
                bytes([2 if place.packed else 1]) + place.at.to_bytes(4, "big") + place.generation.to_bytes(2, "big")
            )
        self.stream(number, rows, b"/Type/XRef/W[1 4 2]/Index[%b]%b" % (index, trailer), plain=True)

    def __bytes__(self) -> bytes:
        return bytes(self.data)
