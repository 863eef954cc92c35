"""Where the objects of a plainly written file stand, without parsing one of them.

Whoever made the file may have made it to deceive: a place inside another object's string, a stream that looks like
something else. What does not show on its face that it is none of that is :class:`Unsafe`.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from paraph.pdf.crossreference import Section
from paraph.pdf.objects import Unsafe
from paraph.pdf.reader import Reader

_TABLE_ENTRY = re.compile(rb"(\d{10}) (\d{5}) ([nf])[ \r][\r\n]")
_HEAD = re.compile(rb"[\x00\t\n\x0c\r ]*(\d+)[\x00\t\n\x0c\r ]+(\d+)[\x00\t\n\x0c\r ]+obj")
_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_STRING = re.compile(rb"\([^()]*\)")
_DEEPEST_STRING = 8


class Span(NamedTuple):
    """An object and all that follows until the place of the next one."""

    number: int
    generation: int
    start: int
    end: int


class Places(NamedTuple):
    """Every object that any section of the cross-reference names, in use or replaced since."""

    perhaps_streams: list[Span]
    others: list[tuple[int, int]]
    """From where to where there is certainly no stream."""
    containers: set[int]
    """Numbers of the object streams, all of them among ``perhaps_streams``."""


def places(data: bytes) -> Places:
    """Raises :class:`Unsafe` for a file in which an object might hide: encrypted, hybrid, or with an object elsewhere
    than the cross-reference says."""
    reader = Reader(data)
    sections = reader.crossreference.sections
    if reader.encryption is not None or any(b"/XRefStm" in section.trailer for section in sections):
        raise Unsafe("an encrypted or hybrid file")
    plain: dict[int, tuple[int, int]] = {}
    containers: set[int] = set()
    for section in sections:
        for first, count, place in section.runs:
            if section.is_stream:
                containers |= _rows(section, first, count, place, plain)
            else:
                _entries(data, first, count, place, plain)
    streams, others = _sorted_out(data, plain)
    if not containers <= {span.number for span in streams}:
        raise Unsafe("an object stream is missing")
    return Places(streams, others, containers)


def _sorted_out(data: bytes, plain: dict[int, tuple[int, int]]) -> tuple[list[Span], list[tuple[int, int]]]:
    """The others joined where they stand side by side."""
    streams: list[Span] = []
    others: list[tuple[int, int]] = []
    for start, end in pairwise([*sorted(plain), len(data)]):
        number, generation = plain[start]
        body = _body(data, start, number, generation)
        if data.find(b"stream", body, end) >= 0:
            streams.append(Span(number, generation, start, end))
            continue
        _check_closed(data[body:end])
        if others and others[-1][1] == start:
            others[-1] = (others[-1][0], end)
        else:
            others.append((start, end))
    return streams, others


def _body(data: bytes, start: int, number: int, generation: int) -> int:
    plain = b"%d %d obj" % (number, generation)
    if data.startswith(plain, start):
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
    columns = [rows[column::width] for column in range(a, a + b)]
    for index in (found.start() for found in re.finditer(b"\x01", rows[::width])):
        row = rows[index * width : (index + 1) * width]
        plain[int.from_bytes(row[1 : 1 + b], "big")] = (first + index, int.from_bytes(row[1 + b :], "big"))
    packed = {row for row in zip(rows[::width], *columns, strict=True) if row[0] == 2}
    return {int.from_bytes(where, "big") for _, *where in packed}


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


def texts(data: bytes, span: Span, stream: bytes | None) -> Iterator[bytes]:
    """All that stands in the span but the data of its stream."""
    place = -1 if stream is None else data.find(stream[:64], span.start, span.end)
    if stream is not None and place >= 0 and not data.startswith(stream, place):
        place = data.find(stream, place, span.end)
    if stream is None or place < 0:
        yield data[span.start : span.end]
    else:
        yield data[span.start : place]
        yield data[place + len(stream) : span.end]
