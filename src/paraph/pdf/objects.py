"""PDF objects as this package's reader and writer hold them, and their text (ISO 32000-1, 7.3).

An object is an ``int``, a ``dict`` with name tokens as keys, a ``list``, a :class:`Ref`, a :class:`Stream`,
None (null), or ``bytes``: the token of a name, string, real or boolean exactly as it stands in the file.
What is copied from an upload is therefore written back byte for byte.
"""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

Token = bytes
Dictionary = dict[bytes, Any]

SPACE = rb"\x00\t\n\x0c\r "
_REGULAR = rb"[^\x00\t\n\x0c\r ()<>\[\]{}/%]"
# Possessive throughout: a long gap before something else must not be tried in every way to divide it.
GAP = rb"(?:[" + SPACE + rb"]++|%[^\r\n]*+)*+"
_GAP = re.compile(GAP)
_TOKEN = re.compile(
    GAP + rb"(?:"
    rb"(/" + _REGULAR + rb"*)"  # 1 name
    rb"|(\d+)[" + SPACE + rb"]+(\d+)[" + SPACE + rb"]+R(?!" + _REGULAR + rb")"  # 2, 3 reference
    rb"|([+-]?\d+)(?!" + _REGULAR + rb")"  # 4 integer
    rb"|(<<)|(>>)|(\[)|(\])"  # 5, 6, 7, 8
    rb"|(\()"  # 9 literal string
    rb"|(<[0-9A-Fa-f" + SPACE + rb"]*>)"  # 10 hexadecimal string
    rb"|([+-]?(?:\d+\.\d*|\.\d+)|true|false|null)(?!" + _REGULAR + rb"))"  # 11 real, keyword
)
_ENTRY = re.compile(  # a key with a value that is neither dictionary nor array nor literal string
    rb"[" + SPACE + rb"]*(/" + _REGULAR + rb"*+)[" + SPACE + rb"]*(?:"  # 1 key, all of it: "/F1 <<" is no /F of 1
    rb"(/" + _REGULAR + rb"*)"  # 2 name
    rb"|(\d+)[" + SPACE + rb"]+(\d+)[" + SPACE + rb"]+R(?!" + _REGULAR + rb")"  # 3, 4 reference
    rb"|([+-]?\d+)(?!" + _REGULAR + rb")"  # 5 integer
    rb"|([+-]?(?:\d+\.\d*|\.\d+)|true|false)(?!" + _REGULAR + rb")"  # 6 real, boolean
    rb"|(<[0-9A-Fa-f" + SPACE + rb"]*>))"  # 7 hexadecimal string
)
_IN_STRING = re.compile(rb"[()\\]")
_REFERENCE = re.compile(rb"(\d+)[" + SPACE + rb"]+(\d+)[" + SPACE + rb"]+R")
_REFERENCES = re.compile(rb"[" + SPACE + rb"]*(?:\d+[" + SPACE + rb"]+\d+[" + SPACE + rb"]+R[" + SPACE + rb"]*)+\]")
_ESCAPE = re.compile(rb"#([0-9A-Fa-f]{2})")
_DEEPEST = 100
_END = object()


class Unsafe(Exception):
    """The file is not written plainly enough for this reader; another way must be taken."""


class Ref(NamedTuple):
    """An indirect reference."""

    number: int
    generation: int = 0


@dataclass(frozen=True)
class Stream:
    """A stream object: its dictionary and its data as stored, still encoded."""

    dictionary: Dictionary
    data: bytes


def parse(data: bytes, position: int) -> tuple[Any, int]:
    """The object that begins at ``position`` and the position after it. Raises :class:`Unsafe`."""
    value, position = _parse(data, position, 0)
    if value is _END:
        raise Unsafe("an object is missing")
    return value, position


def _parse(data: bytes, position: int, depth: int) -> tuple[Any, int]:  # noqa: PLR0911 (one way out for each kind)
    match = _TOKEN.match(data, position)
    if match is None or depth > _DEEPEST:
        raise Unsafe(f"no object at byte {position}")
    kind, position = match.lastindex, match.end()
    if kind == 1:
        return _name(match[1]), position
    if kind == 3:
        return Ref(int(match[2]), int(match[3])), position
    if kind == 4:
        return int(match[4]), position
    if kind == 5:
        return _dictionary(data, position, depth)
    if kind == 7:
        return _array(data, position, depth)
    if kind == 9:
        end = _string_end(data, position)
        return data[position - 1 : end], end
    if kind == 10:
        return match[10], position
    if kind == 11:
        return (None if match[11] == b"null" else match[11]), position
    return (_END, position)


def _dictionary(data: bytes, position: int, depth: int) -> tuple[Dictionary, int]:
    result: Dictionary = {}
    while True:
        if entry := _ENTRY.match(data, position):  # nearly always; one step instead of two
            kind, position = entry.lastindex or 0, entry.end()
            value: Any = entry[kind]
            if kind == 4:
                value = Ref(int(entry[3]), int(value))
            elif kind == 5:
                value = int(value)
            elif kind == 2:
                value = _name(value)
        else:
            entry = _TOKEN.match(data, position)
            if entry is None or entry.lastindex not in (1, 6):
                raise Unsafe(f"a dictionary is broken at byte {position}")
            if entry.lastindex == 6:
                return result, entry.end()
            value, position = _parse(data, entry.end(), depth + 1)
            if value is _END:
                raise Unsafe(f"a dictionary has no value at byte {position}")
        result[_name(entry[1])] = value


def _array(data: bytes, position: int, depth: int) -> tuple[list[Any], int]:
    if refs := _REFERENCES.match(data, position):  # the long ones; ten times quicker at once
        return [Ref(int(n), int(g)) for n, g in _REFERENCE.findall(data, position, refs.end())], refs.end()
    result: list[Any] = []
    while True:
        value, position = _parse(data, position, depth + 1)
        if value is _END:
            if data[position - 1 : position] != b"]":
                raise Unsafe(f"an array is broken at byte {position}")
            return result, position
        result.append(value)


def _string_end(data: bytes, position: int) -> int:
    depth = 1
    while depth:
        match = _IN_STRING.search(data, position)
        if match is None:
            raise Unsafe("a string does not end")
        position = match.end()
        if match[0] == b"\\":
            position += 1
        else:
            depth += 1 if match[0] == b"(" else -1
    return position


def _name(token: bytes) -> bytes:
    """Names compare by what they mean: escapes that need not be are resolved (ISO 32000-1, 7.3.5)."""
    if b"#" not in token:
        return token
    return _ESCAPE.sub(_unescape, token)


def _unescape(match: re.Match[bytes]) -> bytes:
    character = bytes([int(match[1], 16)])
    return character if character.isalnum() or character in b"-_.+*:,;!$&'@^`|~=?\"" else match[0].upper()


def skip_gap(data: bytes, position: int) -> int:
    """The position after white space and comments."""
    match = _GAP.match(data, position)
    return match.end() if match else position


def text_of(value: Any) -> bytes:  # noqa: PLR0911 (one way out for each kind)
    """The object as it is written into a file. Streams cannot stand inside another object."""
    kind = type(value)
    if kind is bytes:
        return value  # type: ignore[no-any-return]  # a token is its own text
    if kind is Ref:
        return b"%d %d R" % value
    if kind is int:
        return b"%d" % value
    if kind is dict:
        return b"<<" + b"".join([b"%b %b\n" % (key, text_of(item)) for key, item in value.items()]) + b">>"
    if kind is list:
        return b"[" + b" ".join([text_of(item) for item in value]) + b"]"
    if value is None:
        return b"null"
    if kind is float:
        return number(value)
    raise TypeError(f"{kind.__name__} is no PDF object")


def number(value: float) -> bytes:
    """A number with as many decimals as matter on a page."""
    text = f"{value:.5f}".rstrip("0").rstrip(".")
    return b"0" if text in ("", "-0") else text.encode()


def string(text: str) -> bytes:
    """A text string token: Latin letters as they are, everything else as UTF-16 (ISO 32000-1, 7.9.2.2)."""
    if text.isascii() and text.isprintable():
        return b"(" + re.sub(rb"([()\\])", rb"\\\1", text.encode()) + b")"
    return b"<FEFF" + text.encode("utf-16-be").hex().upper().encode() + b">"


def numeric(value: Any) -> float | None:
    """The number that a token stands for, None for anything else."""
    if isinstance(value, int):
        return float(value)
    try:
        return float(value) if isinstance(value, bytes) else None
    except ValueError:
        return None
