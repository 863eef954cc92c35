"""What values and streams of a plain file are made of, and the kinds that entries need (ISO 32000-1, 7.3 and 7.4)."""

import re
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from paraph.pdf.structure.objects import Dictionary, PdfStream, Unsafe
from paraph.pdf.structure.unpacking import unpacked

_LARGEST = 1 << 31
_LONGEST = 32_000  # bytes of a string as it is written; PDFium cuts longer ones in contents
_NAME = re.compile(rb"/(?:[!-\"$&'*-.0-;=?-Z\\^-z|~]|#(?!00)[0-9A-Fa-f]{2}){0,127}+")
_REAL = re.compile(rb"[+-]?+(?:\d{1,10}+\.\d{0,30}+|\.\d{1,30}+)")
_BOOLEANS = (b"true", b"false")
Kind = Callable[[Any], bool]
Kinds = Mapping[bytes, Kind]
Resolve = Callable[[Any], Any]
ABBREVIATED = frozenset(b"/F /FFilter /FDecodeParms /DP /IM /CS /BPC /D /I /W /H".split())
"""Entries of inline images, which some readers accept in any stream, and of data in another file."""
_PACKING = frozenset({b"/FlateDecode", b"/LZWDecode", b"/ASCIIHexDecode", b"/ASCII85Decode", b"/RunLengthDecode"})
_OF_IMAGES = frozenset({b"/DCTDecode", b"/JPXDecode", b"/CCITTFaxDecode", b"/JBIG2Decode"})
_COMMENT = re.compile(rb"%[^\r\n]*+")
_LARGEST_STREAM = 128 << 20  # bytes that are read of any stream


class NotPlain(Exception):
    """Readers may read the file differently; the message says why."""


class Tokens:
    """A check of the tokens of values at any depth, each name once."""

    def __init__(self) -> None:
        self._names: set[bytes] = set()

    def check(self, value: Any) -> None:
        """Raise NotPlain unless all readers read every token within ``value`` alike."""
        waiting: list[Any] = [value.dictionary if type(value) is PdfStream else value]
        while waiting:
            each = waiting.pop()
            kind = type(each)
            if kind is int:
                if not -_LARGEST < each < _LARGEST:
                    raise NotPlain("an integer is too large")
            elif kind is bytes:
                if each not in self._names:
                    self._token(each)
            elif kind is dict:
                for key in each:
                    if key not in self._names:
                        self._token(key)
                if b"/ByteRange" in each:  # a signature, whose value is a string that may be longer than others
                    each = {**each, b"/Contents": 0}
                waiting += each.values()
            elif kind is list:
                waiting += each

    def _token(self, token: bytes) -> None:
        first = token[:1]
        if first == b"/":
            if not _NAME.fullmatch(token):
                raise NotPlain("a name has other characters than printable ASCII")
            self._names.add(token)
        elif first in (b"(", b"<"):
            if len(token) > _LONGEST:
                raise NotPlain("a string is too long")
        elif token not in _BOOLEANS and not _REAL.fullmatch(token):
            raise NotPlain("a number is written in an unusual way")


def is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is bytes and _REAL.fullmatch(value) is not None)


def is_integer(value: Any) -> bool:
    return type(value) is int


def is_natural(value: Any) -> bool:
    return type(value) is int and value >= 0


def is_boolean(value: Any) -> bool:
    return value in _BOOLEANS


def is_name(value: Any) -> bool:
    return type(value) is bytes and value[:1] == b"/"


def is_string(value: Any) -> bool:
    return type(value) is bytes and value[:1] in (b"(", b"<")


def is_dictionary(value: Any) -> bool:
    return type(value) is dict


def is_stream(value: Any) -> bool:
    return type(value) is PdfStream


def is_array(value: Any) -> bool:
    return type(value) is list


def numbers(*lengths: int) -> Kind:
    """Return the kind of arrays of numbers, of one of these lengths or of any."""
    return lambda value: type(value) is list and (not lengths or len(value) in lengths) and all(map(is_number, value))


is_box = numbers(4)
"""A rectangle, given by two opposite corners."""


def one_of(*values: Any) -> Kind:
    return lambda value: type(value) in (int, bytes) and value in values


def any_of(*kinds: Kind) -> Kind:
    return lambda value: any(kind(value) for kind in kinds)


def check_entries(what: str, entries: Dictionary, kinds: Kinds, resolve: Resolve) -> None:
    """Raise NotPlain where an entry that readers look at is of another kind than it needs. A key may be absent, but
    not null: readers differ on whether an ancestor's value then counts."""
    for key, value in entries.items():
        kind = kinds.get(key)
        if kind is not None and not kind(resolve(value)):
            raise NotPlain(f"{what} has an odd {key.decode('latin-1')}")


_PARAMETERS: Kinds = {
    **dict.fromkeys((b"/Predictor", b"/Colors", b"/BitsPerComponent", b"/Columns", b"/Rows"), is_natural),
    **dict.fromkeys((b"/EarlyChange", b"/ColorTransform"), one_of(0, 1)),
    **dict.fromkeys((b"/EndOfLine", b"/EncodedByteAlign", b"/EndOfBlock", b"/BlackIs1"), is_boolean),
    b"/K": is_integer,
    b"/DamagedRowsBeforeError": is_natural,
    b"/JBIG2Globals": is_stream,
}


def check_stream(stream: PdfStream, kinds: Kinds, what: str, resolve: Resolve, *, image: bool = False) -> list[bytes]:
    """Check the dictionary and the filters of a stream, and return the names of the filters. Raise NotPlain."""
    entries = stream.dictionary
    if not ABBREVIATED.isdisjoint(entries):
        raise NotPlain(f"{what} has entries of an inline image")
    check_entries(what, entries, kinds, resolve)
    filters, parameters = entries.get(b"/Filter", []), resolve(entries.get(b"/DecodeParms"))
    filters = filters if type(filters) is list else [filters]
    if type(parameters) is not list:
        parameters = [] if parameters is None else [parameters]
    if parameters and len(parameters) != len(filters):
        raise NotPlain(f"{what} has parameters for other filters")
    last = filters[-1:] if image else []
    packing = filters[:-1] if last and last[0] in _OF_IMAGES else filters
    if not all(type(each) is bytes and each in _PACKING for each in packing):
        raise NotPlain(f"{what} has an odd filter")
    for each in map(resolve, parameters):
        if type(each) is dict:
            check_entries(what, each, _PARAMETERS, resolve)
        elif each is not None:
            raise NotPlain(f"{what} has odd parameters")
    return filters


def is_blank(stream: PdfStream) -> bool:
    """Return whether contents are nothing but comments, as the appearance of an unsigned field may be."""
    return not _COMMENT.sub(b"", unpacked(stream)).strip()


class Beginning:
    """The decoded data of a stream, read from its beginning and unpacked no further than is asked for. ``outer``: how
    many of its filters are undone, all of them by default. Damaged data end where the damage is."""

    _PIECE = 1 << 12

    def __init__(self, stream: PdfStream, outer: int | None = None) -> None:
        filters, parameters = stream.dictionary.get(b"/Filter", []), stream.dictionary.get(b"/DecodeParms")
        filters = filters if type(filters) is list else [filters]
        undone = filters[:outer]
        parameters = parameters[: len(undone)] if type(parameters) is list else parameters if outer is None else None
        self._found, self._left, self._inflater = b"", b"", zlib.decompressobj()
        if not undone:
            self._found = stream.data
        elif undone == [b"/FlateDecode"] and parameters in (None, [None]):
            self._left = stream.data
        else:
            entries = {b"/Filter": undone, b"/DecodeParms": parameters}
            with suppress(Unsafe):
                self._found = unpacked(PdfStream(entries, stream.data), _LARGEST_STREAM)

    def read(self, start: int, length: int) -> bytes:
        """Return at most ``length`` bytes from ``start`` on."""
        end = min(start + length, _LARGEST_STREAM)
        while self._left and len(self._found) < end:
            try:
                self._found += self._inflater.decompress(self._left, max(end - len(self._found), self._PIECE))
            except zlib.error:
                self._left = b""
                break
            self._left = self._inflater.unconsumed_tail
        return self._found[start:end]

    def number(self, place: int, size: int = 2) -> int:
        """Return the big-endian number in the ``size`` bytes from ``place`` on."""
        return int.from_bytes(self.read(place, size))

    def numbers(self, place: int, count: int, size: int = 2) -> list[int]:
        """Return at most ``count`` numbers of ``size`` bytes each, from ``place`` on."""
        raw = self.read(place, count * size)
        return [int.from_bytes(raw[at : at + size]) for at in range(0, len(raw), size)]
