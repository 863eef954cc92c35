"""A writer of one revision after a file, which can get anything wrong: each attribute is a freedom."""

import hashlib
import re
import struct
from collections.abc import Callable
from typing import NamedTuple

from lab.fuzz.altered.known import Known, NotHere, Pairs, Stream
from paraph.pdf.structure.encryption import string_bytes
from paraph.pdf.structure.objects import PdfStream, Ref

_RANGE = b"0000000000 0000000000 0000000000]"
_TEXT = re.compile(rb"(<<|>>)|\((?:\\.|[^\\()])*\)|<[0-9A-Fa-f\s]*>")
ROOM = 9000  # bytes for a signature

Body = bytes | Stream


class Row(NamedTuple):
    """An entry of a cross-reference. ``kind``: 1 for an object, 0 for a free one, 2 for one in an object stream."""

    number: int
    place: int
    generation: int = 0
    kind: int = 1


class Tail:
    """A revision in the making. Attributes that nobody sets are correct."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.objects = dict[int, Body]()
        self.size = known.size
        self.dictionaries = {number: pairs.copy() for number, pairs in known.dictionaries.items()}
        self.arrays = {name: list(items) for name, items in known.arrays.items()}
        self.changed = set[int]()
        # The text of objects.
        self.lead = b""
        self.heads = dict[int, bytes]()
        self.feet = dict[int, bytes]()
        self.gap = b""
        self.before_table = b""
        # What the cross-reference says of objects.
        self.unlisted = set[int]()
        self.shifted = dict[int, int]()
        self.generations = dict[int, int]()
        self.extra_rows: list[Row] = []
        self.rows: Callable[[list[Row]], list[Row]] = lambda rows: rows
        self.stream = known.packed
        self.stream_number: int | None = None
        """The object number of the cross-reference stream, if it is not a new one."""
        self.hybrid = False
        self.containers: list[tuple[list[int], bytes]] = []
        """Object streams: the numbers of their objects, and more entries."""
        self.widths = (1, 5, 2)
        self.index: bytes | None = None
        # How the cross-reference is written.
        self.keyword = b"xref\n"
        self.entry = b"%010d %05d %c \n"
        self.table: Callable[[list[Row]], bytes] = self._table
        self.trailers: list[Callable[[Pairs], None]] = []
        self.trailer_texts: list[Callable[[bytes], bytes]] = []
        self.end: Callable[[int], bytes] = lambda start: b"startxref\n%d\n%%%%EOF\n" % start
        self.all_texts: list[Callable[[bytes], bytes]] = []
        self.after_signing: list[Callable[[bytes], bytes]] = []
        self.padding = b""
        """What follows the value of the signature, where zeros belong."""
        self.signed_by: Callable[[bytes], bytes] | None = None
        """What makes the signature from the SHA-256 of the byte range."""

    def put(self, number: int, body: Body) -> int:
        self.objects[number] = body
        self.size = max(self.size, number + 1)
        return number

    def add(self, body: Body) -> int:
        return self.put(self.size, body)

    def change(self, number: int) -> Pairs:
        """Return the dictionary of an object for changes, and write it into this revision."""
        if number not in self.dictionaries:
            if number not in self.known.objects:
                raise NotHere(number)
            self.dictionaries[number] = self.known.objects[number].copy()
        self.changed.add(number)
        return self.dictionaries[number]

    def reserve(self) -> int:
        """Return the object number of a new, empty dictionary."""
        self.size += 1
        self.dictionaries[self.size - 1] = Pairs()
        return self.size - 1

    @property
    def root(self) -> Pairs:
        return self.change(self.known.root)

    @property
    def page(self) -> Pairs:
        return self.change(self.known.pages[0])

    @property
    def form(self) -> Pairs:
        """Return the form for changes, whether it is an object of its own or stands in the catalog."""
        if self.known.form is None:
            self.changed.add(self.known.root)
        return self.change(self.known.form or -1)

    def add_field(self, number: int) -> None:
        self.arrays["fields"].append(b"%d 0 R" % number)
        self.form.set(b"/Fields", b"[" + b" ".join(self.arrays["fields"]) + b"]")

    def annotate(self, number: int, page: int = 0) -> None:
        owner = self.known.pages[page]
        items = self.arrays[f"annots {owner}"]
        items.append(b"%d 0 R" % number)
        text = b"[" + b" ".join(items) + b"]"
        if owner in self.known.lists:
            self.put(self.known.lists[owner], text)
        else:
            self.change(owner).set(b"/Annots", text)

    def write(self) -> Known:
        """Return what is known of the file with this revision appended."""
        self._settle()
        base = len(self.known.pdf)
        out = bytearray(self.lead)
        places = dict[int, int]()
        packed = {number for numbers, _ in self.containers for number in numbers}
        containers = [self._container(numbers, entries) for numbers, entries in self.containers]
        for number, body in self.objects.items():
            if number not in packed:
                places[number] = base + len(out)
                out += self._object(number, body)
        out += self.before_table
        listed = {number: place for number, place in places.items() if number not in self.unlisted}
        rows = [
            Row(number, place + self.shifted.get(number, 0), self.generations.get(number, 0))
            for number, place in sorted(listed.items())
        ]
        for container, (numbers, _) in zip(containers, self.containers, strict=True):
            rows += [Row(number, container, index, 2) for index, number in enumerate(numbers)]
        rows = self.rows(sorted([*rows, *self.extra_rows]))
        start = base + len(out)
        if self.stream:
            out += self._stream_section(rows, start)
        elif self.hybrid:
            out += self._stream_section([row for row in rows if row.kind == 2], start, hybrid=True)
            second = base + len(out)
            out += self._classic([row for row in rows if row.kind != 2], [(b"/XRefStm", b"%d" % start)])
            start = second
        else:
            out += self._classic([row for row in rows if row.kind != 2])
        out += self.end(start)
        text = bytes(out)
        for change in self.all_texts:
            text = change(text)
        out = bytearray(text)
        self._sign(out, base)
        text = bytes(out)
        for change in self.after_signing:
            text = change(text)
        return self._known_after(text, start)

    def _settle(self) -> None:
        """Turn changed dictionaries into objects; put a form that stands in the catalog back there."""
        if -1 in self.changed:
            self.dictionaries[self.known.root].set(b"/AcroForm", self.dictionaries[-1].text())
        for number in sorted(self.changed - {-1}):
            if number not in self.objects:
                self.put(number, self.dictionaries[number].text())

    def _container(self, numbers: list[int], entries: bytes) -> int:
        bodies = [body for body in (self.objects[number] for number in numbers) if isinstance(body, bytes)]
        places = [sum(len(body) + 1 for body in bodies[:index]) for index in range(len(bodies))]
        head = b" ".join(b"%d %d" % pair for pair in zip(numbers, places, strict=False)) + b" "
        about = b"/Type/ObjStm/N %d/First %d%b" % (len(bodies), len(head), entries)
        return self.add(Stream(about, head + b" ".join(bodies)))

    def _object(self, number: int, body: Body) -> bytes:
        head = self.heads.get(number, b"%d 0 obj\n" % number)
        foot = self.feet.get(number, b"\nendobj\n")
        return head + self._body(number, body) + foot + self.gap

    def _body(self, number: int, body: Body) -> bytes:
        if isinstance(body, bytes):
            return self._encrypted_strings(number, body)
        data = body.data
        if self.known.encryption and b"/XRef" not in body.entries:
            data = self.known.encryption.encrypt(Ref(number), PdfStream({}, data)).data
        length = b"" if b"/Length" in body.entries else b"/Length %d" % len(data)
        return b"<<%b%b>>\nstream\n" % (body.entries, length) + data + b"\nendstream"

    def _encrypted_strings(self, number: int, text: bytes) -> bytes:
        if not self.known.encryption or b"/ByteRange" in text:
            return text

        def encrypted(match: re.Match[bytes]) -> bytes:
            if match[1]:
                return match[0]
            made = self.known.encryption.encrypt(Ref(number), b"<" + string_bytes(match[0]).hex().encode() + b">")
            return bytes(made)

        return _TEXT.sub(encrypted, text)

    def _trailer(self) -> Pairs:
        pairs = Pairs([(b"/Size", b"%d" % self.size), (b"/Prev", b"%d" % self.known.start), *self.known.trailer])
        for change in self.trailers:
            change(pairs)
        return pairs

    def _classic(self, rows: list[Row], more: list[tuple[bytes, bytes]] | None = None) -> bytes:
        text = b"trailer\n" + Pairs([*self._trailer(), *(more or [])]).text() + b"\n"
        return self.keyword + self.table(rows) + self._trailer_text(text)

    def _trailer_text(self, text: bytes) -> bytes:
        for change in self.trailer_texts:
            text = change(text)
        return text

    def _table(self, rows: list[Row]) -> bytes:
        return b"".join(b"%d %d\n" % (run[0].number, len(run)) + b"".join(map(self.line, run)) for run in runs(rows))

    def line(self, row: Row) -> bytes:
        return self.entry % (row.place, row.generation, b"n" if row.kind else b"f")

    def _stream_section(self, rows: list[Row], start: int, *, hybrid: bool = False) -> bytes:
        own = self.size if self.stream_number is None else self.stream_number
        if not hybrid:
            self.size = max(self.size, own + 1)
            rows = sorted([*rows, Row(own, start)])
        one, two, three = self.widths
        data = b"".join(_wide(row.kind, one) + _wide(row.place, two) + _wide(row.generation, three) for row in rows)
        index = b"".join(b"%d %d " % (run[0].number, len(run)) for run in runs(rows))
        about = Pairs([(b"/Type", b"/XRef"), (b"/W", b"[%d %d %d]" % self.widths)])
        about.append((b"/Index", self.index or b"[" + index + b"]"))
        about += Pairs([(b"/Size", b"%d" % self.size)]) if hybrid else self._trailer()
        text = about.text()[2:-2]
        head = self.heads.get(own, b"%d 0 obj\n" % own)
        body = b"<<%b /Length %d>>\nstream\n" % (self._trailer_text(text), len(data)) + data + b"\nendstream\nendobj\n"
        if hybrid:
            self.size += 1
        return head + body

    def _sign(self, out: bytearray, base: int) -> None:
        at = bytes(out).rfind(_RANGE)
        if self.signed_by is None or at < 0:
            return
        first = out.index(b"<" + b"0" * 2 * ROOM + b">", at)
        last = first + 2 * ROOM + 2
        found = b"%d %d %d]" % (base + first, base + last, len(out) - last)
        out[at : at + len(_RANGE)] = found.ljust(len(_RANGE))
        digest = hashlib.sha256(self.known.pdf + out[:first] + out[last:]).digest()
        value = self.signed_by(digest).hex().encode()
        assert len(value) <= 2 * ROOM - len(self.padding)
        out[first + 1 : first + 1 + len(value)] = value
        out[last - 1 - len(self.padding) : last - 1] = self.padding

    def _known_after(self, text: bytes, start: int) -> Known:
        stated = re.findall(rb"startxref\s+(\d+)", text)
        return self.known.after(
            pdf=self.known.pdf + text,
            start=int(stated[-1]) if stated else start,
            size=self.size,
            dictionaries=self.dictionaries,
            arrays=self.arrays,
            packed=self.stream,
        )


def signature_body(about: bytes) -> bytes:
    """Return a signature dictionary with room for the value that :attr:`Tail.signed_by` makes."""
    return b"<<%b/ByteRange [0 %b/Contents <%b>>>" % (about, _RANGE, b"0" * 2 * ROOM)


def runs(rows: list[Row]) -> list[list[Row]]:
    """Group rows with consecutive object numbers."""
    found: list[list[Row]] = []
    for row in rows:
        if found and found[-1][-1].number + 1 == row.number:
            found[-1].append(row)
        else:
            found.append([row])
    return found


def _wide(value: int, width: int) -> bytes:
    return struct.pack(">Q", value & (1 << 64) - 1)[8 - width :] if width else b""
