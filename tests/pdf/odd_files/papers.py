"""PDFs written byte by byte, so that every part can be wrong on purpose. Their pages say what they promise in big words
and each in its own colour, so that any renderer's picture shows which copy of a page a reader takes."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
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


COLOURS = [
    (0, 0, 255), (255, 0, 255), (255, 128, 0), (128, 0, 255), (0, 128, 128), (128, 128, 0), (0, 192, 255), (128, 64, 0),
]  # fmt: skip
"""One for each promise; none is the red or the green of marks."""
_AMOUNTS = ["1", "20", "300", "4,000", "50,000", "600,000", "1,000,000", "7"]
CATALOG, TREE, FONT = 1, 2, 3
_FIRST = 4
_FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"


def promise(which: int, y: int = 520) -> bytes:
    """Operators that draw promise ``which``: its words, and a bar in its colour."""
    red, green, blue = (value / 255 for value in COLOURS[which])
    words = f"I pay {_AMOUNTS[which]} EUR"
    bar = f"q {red:.4f} {green:.4f} {blue:.4f} rg 60 {y - 60} 400 40 re f Q"
    return f"{bar}\nq BT /F1 36 Tf 60 {y} Td ({words}) Tj ET Q".encode()


def some(chance: Random, count: int) -> list[int]:
    """Return ``count`` different promises."""
    return chance.sample(range(len(COLOURS)), count)


def page_number(index: int) -> int:
    """Return the object number of page ``index``, counted from 0."""
    return _FIRST + 2 * index


def contents_number(index: int) -> int:
    """Return the object number of the contents of page ``index``, counted from 0."""
    return _FIRST + 2 * index + 1


def page(index: int, entries: bytes = b"", box: bytes = b"[0 0 595 842]", contents: bytes = b"") -> bytes:
    """The dictionary of a page."""
    parts = b"<</Type/Page/Parent %d 0 R/MediaBox%b/Contents %b/Resources<</Font<</F1 %d 0 R>>%b>>%b>>"
    resources, _, rest = entries.rpartition(b"|")  # "resources|entries of the page"
    return parts % (TREE, box, contents or b"%d 0 R" % contents_number(index), FONT, resources, rest)


def tree(count: int, kids: Sequence[int] | None = None) -> bytes:
    """The root of the page tree."""
    numbers = [page_number(index) for index in range(count)] if kids is None else kids
    return b"<</Type/Pages/Count %d/Kids[%b]>>" % (count, b" ".join(b"%d 0 R" % number for number in numbers))


def filled(
    raw: Raw,
    contents: Sequence[bytes],
    *,
    entries: bytes = b"",
    catalog: bytes = b"",
    packed: bool = False,
    deflated: bool = False,
    kids: bytes | None = None,
) -> Raw:
    """Return ``raw`` with a document of one page for each of ``contents``, its cross-reference not yet written."""
    objects = {
        CATALOG: b"<</Type/Catalog/Pages %d 0 R%b>>" % (TREE, catalog),
        TREE: kids or tree(len(contents)),
        FONT: _FONT,
        **{page_number(index): page(index, entries) for index in range(len(contents))},
    }
    for index, content in enumerate(contents):
        if deflated:
            raw.stream(contents_number(index), zlib.compress(content), b"/Filter/FlateDecode")
        else:
            raw.stream(contents_number(index), content)
    if packed:
        return raw.pack(raw.highest + 20, objects)
    for number, body in objects.items():
        raw.put(number, body)
    return raw


def paper(chance: Random, promises: Sequence[int], *, entries: bytes = b"", catalog: bytes = b"") -> Raw:
    """A sound document, written in one of several ways, its cross-reference not yet written."""
    turned = chance.choice([b"", b"", b"/Rotate 90", b"/Rotate 180", b"/CropBox[20 20 560 800]"])
    packed, deflated = chance.random() < 0.3, chance.random() < 0.5
    contents = [promise(which) for which in promises]
    return filled(Raw(), contents, entries=entries + turned, catalog=catalog, packed=packed, deflated=deflated)
