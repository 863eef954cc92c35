"""Decoding of streams within a limit (ISO 32000-1, 7.4).

A stream of 120 bytes may unpack to gigabytes, all the more through several filters. So filters are undone one by one,
and only after the size of the result is known to be within the limit.
"""

import zlib
from typing import Any, NamedTuple

import pikepdf

from paraph.pdf.structure.objects import PdfStream, Unsafe, serialized

LARGEST = 128 << 20
"""The default limit in bytes."""
_MOST_FILTERS = 8
_FLATE = frozenset({b"/FlateDecode", b"/Fl"})
_LZW = frozenset({b"/LZWDecode", b"/LZW"})
_HEXADECIMAL = frozenset({b"/ASCIIHexDecode", b"/AHx"})
_ASCII85 = frozenset({b"/ASCII85Decode", b"/A85"})
_RUNS = frozenset({b"/RunLengthDecode", b"/RL"})
_NOTHING: tuple[object, ...] = (None, {}, [])
_CLEAR, _END, _FIRST = 256, 257, 258
_WIDEST = 12  # bits
_END_OF_RUNS = 128


class TooLarge(Unsafe):
    """The data unpacks to more than the limit."""


class _Filter(NamedTuple):
    """One filter. ``parameters``: a dictionary or ``None``."""

    name: Any
    parameters: Any


def unpacked(stream: PdfStream, limit: int = LARGEST, *, complete: bool = False) -> bytes:
    """Return the decoded data. ``complete``: truncated or damaged data is an error too. Raise :class:`TooLarge` if
    the result, or that of any filter on the way, exceeds ``limit`` bytes, and :class:`Unsafe` for data that neither
    zlib nor qpdf can decode."""
    data = stream.data
    for step in _filters(stream.dictionary):
        if step.name in _FLATE:
            data = _inflated(data, limit, complete=complete)
            if step.parameters not in _NOTHING:  # a predictor never enlarges data
                data = _by_qpdf(zlib.compress(data, 0), step, complete=complete)
        else:
            if _size(step, data, limit) > limit:
                raise TooLarge("a stream is too large")
            data = _by_qpdf(data, step, complete=complete)
    if len(data) > limit:
        raise TooLarge("a stream is too large")
    return data


def _filters(dictionary: dict[bytes, Any]) -> list[_Filter]:
    filters, parameters = dictionary.get(b"/Filter"), dictionary.get(b"/DecodeParms")
    if filters is None:
        return []
    names = filters if isinstance(filters, list) else [filters]
    listed = parameters if isinstance(parameters, list) and parameters else [parameters] * len(names)
    if len(names) > _MOST_FILTERS or (names and len(listed) != len(names)):
        raise Unsafe("a stream has too many filters, or others than its parameters are for")
    return [_Filter(*step) for step in zip(names, listed, strict=False)]


def _inflated(data: bytes, limit: int, *, complete: bool) -> bytes:
    inflater = zlib.decompressobj()
    try:
        result = inflater.decompress(data, limit + 1)
    except zlib.error as error:
        raise Unsafe("a stream cannot be inflated") from error
    if len(result) > limit:
        raise TooLarge("a stream is too large")
    if complete and not inflater.eof:
        raise Unsafe("a stream is cut")
    return result


def _size(step: _Filter, data: bytes, limit: int) -> int:
    """Return an upper bound for the size of the data that a filter unknown to zlib unpacks."""
    if step.name in _LZW:
        early = step.parameters.get(b"/EarlyChange", 1) if isinstance(step.parameters, dict) else 1
        return max(lzw_size(data, early_change=value, limit=limit) for value in ((True, False) if early else (False,)))
    if step.name in _RUNS:
        return run_length_size(data)
    if step.name in _HEXADECIMAL:
        return len(data) // 2
    if step.name in _ASCII85:
        return len(data) * 4 // 5 + 4 * data.count(b"z")  # each stands for four bytes
    return len(data)


def _by_qpdf(data: bytes, step: _Filter, *, complete: bool) -> bytes:
    try:
        with pikepdf.new() as scratch:
            copy = pikepdf.Stream(scratch, data)
            for key, value in ((b"/Filter", step.name), (b"/DecodeParms", step.parameters)):
                if value not in _NOTHING:
                    copy[key.decode("latin-1")] = pikepdf.Object.parse(serialized(value))
            result = copy.read_bytes()
            warned = complete and bool(scratch.get_warnings())
    except (pikepdf.PikepdfError, ValueError, RuntimeError) as error:
        raise Unsafe("a stream cannot be decoded") from error
    if warned:
        raise Unsafe("a stream is damaged")
    return result


def lzw_size(data: bytes, *, early_change: bool, limit: int) -> int:
    """Return the size of LZW data (ISO 32000-1, 7.4.4) from the lengths of its words, counted up to ``limit``."""
    lengths, previous, size = [1] * _FIRST, 0, 0
    width, waiting, bits = 9, 0, 0
    for byte in data:
        waiting, bits = (waiting << 8) | byte, bits + 8
        if bits < width:
            continue
        bits -= width
        code, waiting = waiting >> bits, waiting & ((1 << bits) - 1)
        if code == _END or size > limit:
            break
        if code == _CLEAR:
            del lengths[_FIRST:]
            previous, width = 0, 9
            continue
        if previous and len(lengths) < 1 << _WIDEST:
            lengths.append(previous + 1)
        if code >= len(lengths):  # damaged
            break
        previous = lengths[code]
        size += previous
        while width < _WIDEST and len(lengths) + early_change >= 1 << width:
            width += 1
    return size


def run_length_size(data: bytes) -> int:
    """Return the size of run-length data (ISO 32000-1, 7.4.5)."""
    place, size = 0, 0
    while place < len(data) and data[place] != _END_OF_RUNS:
        length = data[place]
        size += length + 1 if length < _END_OF_RUNS else 257 - length
        place += length + 2 if length < _END_OF_RUNS else 2
    return size
