"""The data of streams unpacked, never to more than is asked for (ISO 32000-1, 7.4).

A stream of 120 bytes may unpack to gigabytes, the more so through several filters. So each filter is undone by itself,
and only where it is known that what comes out is small enough.
"""

import zlib
from typing import Any, NamedTuple

import pikepdf

from paraph.pdf.structure.objects import Stream, Unsafe, text_of
from paraph.pdf.structure.unpacked_size import lzw_size, run_length_size

LARGEST = 128 << 20
"""Bytes to which a stream is unpacked where nothing else is said."""
_MOST_FILTERS = 8
_FLATE = frozenset({b"/FlateDecode", b"/Fl"})
_LZW = frozenset({b"/LZWDecode", b"/LZW"})
_HEXADECIMAL = frozenset({b"/ASCIIHexDecode", b"/AHx"})
_ASCII85 = frozenset({b"/ASCII85Decode", b"/A85"})
_RUNS = frozenset({b"/RunLengthDecode", b"/RL"})
_NOTHING: tuple[object, ...] = (None, {}, [])


class TooLarge(Unsafe):
    """The data unpacks to more than is asked for."""


class _Pass(NamedTuple):
    """One filter. ``parameters``: a dictionary, or None."""

    name: Any
    parameters: Any


def unpacked(stream: Stream, most: int = LARGEST, *, to_its_end: bool = False) -> bytes:
    """The data without its filters. Raises :class:`TooLarge` beyond ``most`` bytes, also on the way, and
    :class:`Unsafe` for what neither zlib nor qpdf can undo; with ``to_its_end`` also for what is cut or damaged."""
    data = stream.data
    for each in _passes(stream.dictionary):
        if each.name in _FLATE:
            data = _inflated(data, most, to_its_end=to_its_end)
            if each.parameters not in _NOTHING:  # what predicts makes nothing larger
                data = _by_qpdf(zlib.compress(data, 0), each, to_its_end=to_its_end)
        else:
            if _size(each, data, most) > most:
                raise TooLarge("a stream is too large")
            data = _by_qpdf(data, each, to_its_end=to_its_end)
    if len(data) > most:
        raise TooLarge("a stream is too large")
    return data


def _passes(dictionary: dict[bytes, Any]) -> list[_Pass]:
    filters, parameters = dictionary.get(b"/Filter"), dictionary.get(b"/DecodeParms")
    if filters is None:
        return []
    names = filters if isinstance(filters, list) else [filters]
    listed = parameters if isinstance(parameters, list) and parameters else [parameters] * len(names)
    if len(names) > _MOST_FILTERS or (names and len(listed) != len(names)):
        raise Unsafe("a stream has too many filters, or others than its parameters are for")
    return [_Pass(*each) for each in zip(names, listed, strict=False)]


def _inflated(data: bytes, most: int, *, to_its_end: bool) -> bytes:
    inflater = zlib.decompressobj()
    try:
        result = inflater.decompress(data, most + 1)
    except zlib.error as error:
        raise Unsafe("a stream cannot be inflated") from error
    if len(result) > most:
        raise TooLarge("a stream is too large")
    if to_its_end and not inflater.eof:
        raise Unsafe("a stream is cut")
    return result


def _size(each: _Pass, data: bytes, most: int) -> int:
    """Of what comes out of a filter that zlib does not undo, at most."""
    if each.name in _LZW:
        given = each.parameters.get(b"/EarlyChange", 1) if isinstance(each.parameters, dict) else 1
        return max(lzw_size(data, early_change=early, most=most) for early in ((True, False) if given else (False,)))
    if each.name in _RUNS:
        return run_length_size(data)
    if each.name in _HEXADECIMAL:
        return len(data) // 2
    if each.name in _ASCII85:
        return len(data) * 4 // 5 + 4 * data.count(b"z")  # which stands for four bytes
    return len(data)


def _by_qpdf(data: bytes, each: _Pass, *, to_its_end: bool) -> bytes:
    try:
        with pikepdf.new() as scratch:
            copy = pikepdf.Stream(scratch, data)
            for key, value in ((b"/Filter", each.name), (b"/DecodeParms", each.parameters)):
                if value not in _NOTHING:
                    copy[key.decode("latin-1")] = pikepdf.Object.parse(text_of(value))
            result = copy.read_bytes()
            warned = to_its_end and bool(scratch.get_warnings())
    except (pikepdf.PikepdfError, ValueError, RuntimeError) as error:
        raise Unsafe("a stream cannot be decoded") from error
    if warned:
        raise Unsafe("a stream is damaged")
    return result
