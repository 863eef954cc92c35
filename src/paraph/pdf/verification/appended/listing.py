"""The cross-reference of one incremental update, read strictly (ISO 32000-2, 7.5.4 and 7.5.8)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeGuard

from paraph.pdf.structure.objects import Dictionary, PdfStream, Ref, Unsafe
from paraph.pdf.structure.unpacking import unpacked
from paraph.pdf.verification.appended.refused import NotPermitted
from paraph.pdf.verification.appended.syntax import NATURAL, SPACE, strict_object

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
class Listing:
    """``offsets``: where the cross-reference says that each object stands; ``trailer``: without what only describes
    a cross-reference stream."""

    offsets: dict[Ref, int]
    trailer: Dictionary


def read_table(pdf: bytes, start: int) -> tuple[Listing, int]:
    """Read the table at ``start`` with its trailer; also return where they end. Raises :class:`NotPermitted`."""
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
    return Listing(offsets, trailer), position


def read_stream_listing(stream: Any) -> Listing:
    """Read a cross-reference stream. Raises :class:`NotPermitted`."""
    dictionary = stream.dictionary if isinstance(stream, PdfStream) else {}
    widths, index = dictionary.get(b"/W"), dictionary.get(b"/Index")
    if dictionary.get(b"/Type") != b"/XRef" or dictionary.get(b"/Filter") not in _FLATE:
        raise NotPermitted("what follows does not end with a cross-reference that can be read strictly")
    if not _are_numbers(widths) or len(widths) != 3 or not all(1 <= width <= 8 for width in widths):
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
    return Listing(offsets, {key: value for key, value in dictionary.items() if key not in _OF_THE_STREAM})


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
