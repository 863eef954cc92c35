"""What the values of a plain file are made of, and the kinds that entries need (ISO 32000-1, 7.3 and annex C)."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from paraph.pdf.structure.objects import Dictionary, PdfStream

_LARGEST = 1 << 31
_LONGEST = 32_000  # bytes of a string as it is written; PDFium cuts longer ones in contents
_NAME = re.compile(rb"/(?:[!-\"$&'*-.0-;=?-Z\\^-z|~]|#(?!00)[0-9A-Fa-f]{2}){0,127}+")
_REAL = re.compile(rb"[+-]?+(?:\d{1,10}+\.\d{0,30}+|\.\d{1,30}+)")
_BOOLEANS = (b"true", b"false")
Kind = Callable[[Any], bool]
Kinds = Mapping[bytes, Kind]
Resolve = Callable[[Any], Any]


class NotPlain(Exception):
    """Readers may read the file differently; the message says why."""


class Tokens:
    """Checks the tokens of values at any depth, each name once."""

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
                waiting += each.values() if b"/ByteRange" not in each else _without_signature(each)
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


def _without_signature(entries: Dictionary) -> list[Any]:
    """A signature is a string that may be longer than others."""
    return [value for key, value in entries.items() if key != b"/Contents"]


def is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is bytes and _REAL.fullmatch(value) is not None)


def number(token: Any) -> float:
    """Return the value of what is a number."""
    return float(token)


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


def one_of(*values: Any) -> Kind:
    return lambda value: type(value) in (int, bytes) and value in values


def any_of(*kinds: Kind) -> Kind:
    return lambda value: any(kind(value) for kind in kinds)


def is_box(value: Any) -> bool:
    """Return whether the value is a rectangle of four numbers, those of two opposite corners."""
    return type(value) is list and len(value) == 4 and all(map(is_number, value))


def check_entries(what: str, entries: Dictionary, kinds: Kinds, resolve: Resolve) -> None:
    """Raise NotPlain where an entry that readers look at is of another kind than it needs. A key may be absent, but
    not null: readers differ on whether an ancestor's value then counts."""
    for key, value in entries.items():
        kind = kinds.get(key)
        if kind is not None and not kind(resolve(value)):
            raise NotPlain(f"{what} has an odd {key.decode('latin-1')}")
