"""Where the objects of a plainly written file stand, without parsing one of them.

Whoever made the file may have made it to deceive: a place inside another object's string, a stream that looks like
something else. What does not show on its face that it is none of that is :class:`Unsafe`.
"""

import re
from itertools import pairwise
from typing import NamedTuple

from paraph.pdf.structure.crossreference import Section
from paraph.pdf.structure.objects import REGULAR, Dictionary, Unsafe, parse
from paraph.pdf.structure.reader import STREAM, Reader

_TABLE_ENTRY = re.compile(rb"(\d{10}) (\d{5}) ([nf])[ \r][\r\n]")
_HEAD = re.compile(rb"[\x00\t\n\x0c\r ]*(\d+)[\x00\t\n\x0c\r ]+(\d+)[\x00\t\n\x0c\r ]+obj")
_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_LENGTH = re.compile(rb"/Length(?![^\x00\t\n\x0c\r ()<>\[\]{}/%])")
_STRING = re.compile(rb"\([^()]*\)")
_DEEPEST_STRING = 8
_SAID_ONCE = (b"/Filter", b"/Subtype", b"/First")

_USUAL_STREAM = re.compile(  # names and numbers only, in any order; nearly all streams are described so
    rb"%(gap)b<<(?:%(gap)b(?:"
    rb"/Length%(gap)b(\d++)%(end)b"  # 1
    rb"|/Filter%(gap)b(%(name)b)"  # 2
    rb"|/Subtype%(gap)b(%(name)b)"  # 3
    rb"|/First%(gap)b(\d++)%(end)b"  # 4
    rb"|(?!/(?:Length|Filter|DecodeParms|Subtype|First)%(end)b)"
    rb"%(name)b%(gap)b(?:%(name)b|(?:\d++|true|false)%(end)b)"
    rb"))*+%(gap)b>>%(gap)bstream\r?\n"
    % {
        b"gap": rb"[\t\n\r ]*+",
        b"name": rb"/[^\x00\t\n\x0c\r ()<>\[\]{}/%#]*+",
        b"end": rb"(?!" + REGULAR + rb")",
    }
)


class Span(NamedTuple):
    """An object and all that follows until the place of the next one."""

    number: int
    place: int
    body: int
    """Where the object itself begins, behind its number."""
    end: int


class StreamPlace(NamedTuple):
    """``dictionary``: what it says of the stream's data, where it says more. ``start`` and ``end`` of the data."""

    dictionary: Dictionary
    start: int
    end: int


class Places(NamedTuple):
    """Every object that any section of the cross-reference names, in use or replaced since."""

    reader: Reader
    perhaps_streams: list[Span]
    others: list[tuple[int, int]]
    """From where to where there is certainly no stream; also what stands before all objects."""
    containers: set[int]
    """Places of the object streams in use."""


def places(data: bytes) -> Places:
    """Raises :class:`Unsafe` for a file in which an object might hide: encrypted, hybrid, or with an object elsewhere
    than the cross-reference says."""
    reader = Reader(data)
    sections = reader.crossreference.sections
    if reader.encryption is not None or any(b"/XRefStm" in section.trailer for section in sections):
        raise Unsafe("an encrypted or hybrid file")
    if reader.trailer.get(b"/Size") != reader.crossreference.next_number:
        raise Unsafe("there are objects beyond the number of objects")
    plain: dict[int, tuple[int, int]] = {}
    containers: set[int] = set()
    for section in sections:
        for first, count, place in section.runs:
            if section.is_stream:
                containers |= _rows(section, first, count, place, plain)
            else:
                _entries(data, first, count, place, plain)
    streams, others = _sorted_out(data, plain)
    return Places(reader, streams, others, {_in_use(reader, number, plain) for number in containers})


def _in_use(reader: Reader, number: int, plain: dict[int, tuple[int, int]]) -> int:
    """Where the object stream stands, which may have stood elsewhere before."""
    entry = reader.crossreference.entry(number)
    if entry is None or entry.packed or plain.get(entry.place) != (number, entry.index):
        raise Unsafe("an object stream is missing")
    return entry.place


def _sorted_out(data: bytes, plain: dict[int, tuple[int, int]]) -> tuple[list[Span], list[tuple[int, int]]]:
    """The others joined where they stand side by side."""
    streams: list[Span] = []
    others: list[tuple[int, int]] = [(0, min(plain, default=len(data)))]
    for start, end in pairwise([*sorted(plain), len(data)]):
        number, generation = plain[start]
        body = _body(data, start, number, generation)
        if data.find(b"stream", body, end) >= 0:
            streams.append(Span(number, start, body, end))
            continue
        _check_closed(data[body:end])
        if others[-1][1] == start:
            others[-1] = (others[-1][0], end)
        else:
            others.append((start, end))
    return streams, others


def _body(data: bytes, start: int, number: int, generation: int) -> int:
    plain = b"%d %d obj" % (number, generation)
    if data[start : start + len(plain)] == plain:
        return start + len(plain)
    head = _HEAD.match(data, start)
    if head is None or (int(head[1]), int(head[2])) != (number, generation):
        raise Unsafe("an object is not where the cross-reference says")
    return head.end()


def _entries(data: bytes, first: int, count: int, place: int, plain: dict[int, tuple[int, int]]) -> None:
    found = _TABLE_ENTRY.findall(data, place, place + 20 * count)
    if len(found) != count:
        raise Unsafe("a cross-reference entry is not 20 bytes wide")
    for number, (offset, generation, kind) in enumerate(found, start=first):
        if kind == b"n":
            plain[int(offset)] = (number, int(generation))


def _rows(section: Section, first: int, count: int, place: int, plain: dict[int, tuple[int, int]]) -> set[int]:
    """Adds the plain objects and returns the containers of the packed ones."""
    a, b, c = section.widths
    width = a + b + c
    if a != 1:
        raise Unsafe("a cross-reference stream of unusual width")
    rows = section.rows[place : place + count * width]
    containers = set()
    alike = rb"(.)(.{%d}).{%d}(?:\1\2.{%d})*+" % (b, c, c)  # rows that follow each other and name the same place
    for run in re.finditer(alike, rows, re.DOTALL):
        where = int.from_bytes(run[2], "big")
        if run[1] == b"\x02":
            containers.add(where)
        elif run[1] == b"\x01":
            row = run.end() - width  # of several at one place the last one, as in a table
            plain[where] = (first + row // width, int.from_bytes(rows[row + 1 + b : row + width], "big"))
    return containers


def _check_closed(text: bytes) -> None:
    """The object ends before its ``endobj``: no string, dictionary or comment is open there that could go on behind
    the next place, with a stream in it."""
    body, end, _ = text.partition(b"endobj")
    if b"(" in body or b")" in body:
        body = _without_strings(body)
    if not end or b"%" in body or body.count(b"<<") != body.count(b">>"):
        raise Unsafe("an object does not end where it seems to")


def _without_strings(body: bytes) -> bytes:
    body = _ESCAPED.sub(b"", body)
    for _ in range(_DEEPEST_STRING):
        body, found = _STRING.subn(b"", body)
        if not found:
            break
    if b"(" in body or b")" in body:
        raise Unsafe("a string does not end")
    return body


def stream_in(data: bytes, span: Span, reader: Reader) -> StreamPlace | None:
    """The stream in the span; None where there is none. Raises :class:`Unsafe` where readers might see another end."""
    place = _usual_stream(data, span, reader) or _other_stream(data, span, reader)
    if place and place.end > span.end:
        raise Unsafe("a stream goes on behind the next object")
    return place


def _usual_stream(data: bytes, span: Span, reader: Reader) -> StreamPlace | None:
    usual = _USUAL_STREAM.match(data, span.body)
    if usual is None or usual[0].count(b"/Length") != 1 or any(usual[0].count(key) > 1 for key in _SAID_ONCE):
        return None
    length, packing, kind, first = usual.groups()
    dictionary: Dictionary = {b"/Length": int(length)}
    for key, value in ((b"/Filter", packing), (b"/Subtype", kind), (b"/First", first and int(first))):
        if value is not None:
            dictionary[key] = value
    start = usual.end()
    return StreamPlace(dictionary, start, start + reader.length_of(dictionary, start))


def _other_stream(data: bytes, span: Span, reader: Reader) -> StreamPlace | None:
    dictionary, position = parse(data, span.body)
    begins = STREAM.match(data, position) if type(dictionary) is dict else None
    if begins is None:
        _check_closed(data[span.body : span.end])
        return None
    head = data[span.body : position]
    if b"#" in head or len(_LENGTH.findall(head)) != 1:
        raise Unsafe("a stream may have two lengths")
    start = begins.end()
    return StreamPlace(dictionary, start, start + reader.length_of(dictionary, start))
