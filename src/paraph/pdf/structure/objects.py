"""PDF objects as this package's reader and writer represent them, and their text (ISO 32000-1, 7.3).

An object is an ``int``, a ``dict`` with name tokens as keys, a ``list``, a :class:`Ref`, a :class:`PdfStream`, None
(null), or ``bytes``: the token of a name, string, real or boolean exactly as in the file. What is copied from an upload
is therefore written back byte for byte.
"""

import re
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any, NamedTuple

CONFUSED = (RecursionError, ValueError, OverflowError, TypeError, AttributeError, LookupError)
"""Raised, beside :class:`Unsafe`, when an object has another type than expected."""

Token = bytes
Dictionary = dict[bytes, Any]

SPACE = rb"\x00\t\n\x0c\r "
REGULAR = rb"[^\x00\t\n\x0c\r ()<>\[\]{}/%]"
# Possessive throughout, so that a long gap cannot cause backtracking.
GAP = rb"[" + SPACE + rb"]*+(?:%[^\r\n]*+[" + SPACE + rb"]*+)*+"
_GAP = re.compile(GAP)
_NAME = rb"/" + REGULAR + rb"*+"  # possessive: "/F1 <<" must not match as /F followed by 1
_SPACES = rb"[" + SPACE + rb"]++"
_REFERENCE = rb"(\d++)" + _SPACES + rb"(\d++)" + _SPACES + rb"R"
_REFERENCE_LIST = rb"(?:[" + SPACE + rb"]*+\d++" + _SPACES + rb"\d++" + _SPACES + rb"R)++[" + SPACE + rb"]*+"
_REAL = rb"[+-]?(?:\d++\.\d*+|\.\d++)"
_SIMPLE_STRING = rb"<[0-9A-Fa-f" + SPACE + rb"]*+>|\([^()\\]*+\)"
_STEP = re.compile(  # a value, or the end of a dictionary or array; in a dictionary with its key
    GAP + rb"(?:(" + _NAME + rb")" + GAP + rb")?(?:"  # 1 key, or a name that stands before a value
    rb"(" + _NAME + rb")"  # 2 name
    rb"|" + _REFERENCE + rb"(?!" + REGULAR + rb")"  # 3, 4 reference
    rb"|([+-]?\d++)(?!" + REGULAR + rb")"  # 5 integer
    rb"|(" + _SIMPLE_STRING + rb"|(?:" + _REAL + rb"|true|false)(?!" + REGULAR + rb"))"  # 6 token
    rb"|\[([\t\n\x0c\r 0-9.+-]*+)\]"  # 7 array of numbers
    rb"|\[(" + _REFERENCE_LIST + rb")\]"  # 8 array of references
    rb"|(null)(?!" + REGULAR + rb")"  # 9
    rb"|(\()"  # 10 any other string
    rb"|(<<)|(\[)"  # 11 dictionary, 12 array
    rb"|(>>)|(\]))"  # 13, 14 their ends
)
_GENERATION, _STRING, _DICTIONARY, _ARRAY, _END_OF_DICTIONARY = 4, 10, 11, 12, 13
_IN_STRING = re.compile(rb"[()\\]")
_REAL_ALONE = re.compile(_REAL)
_REFERENCES = re.compile(_REFERENCE)
LENIENT_GAP = rb"(?:[" + SPACE + rb"\x0b\x80\xff]|%[^\r\n]*+[\r\n])"
"""What separates tokens to one lenient reader or another: white space, bytes that PDFium takes for it, and comments."""
REST_OF_REFERENCE = (
    rb"(?:[-+.][-+.\d]*+)?" + LENIENT_GAP + rb"++[-+.]*+\d[-+.\d]*+" + LENIENT_GAP + rb"*+R(?![A-Za-z0-9])"
)
"""The rest of a reference, after the object's number, for lenient readers: points, signs, comments and odd gaps."""
_ESCAPE = re.compile(rb"#([0-9A-Fa-f]{2})")
_OF_SIGNATURES = (b"/Sig", b"/DocTimeStamp")
"""The types of a signature, which may name both: its /SubFilter tells which of them it is."""
_DEEPEST, _MOST_STEPS = 100, 32


class Unsafe(Exception):
    """The file is not written plainly enough for this reader; the caller must find another way."""


class Ref(NamedTuple):
    """An indirect reference."""

    number: int
    generation: int = 0


class PdfStream(NamedTuple):
    """A stream object: its dictionary and its data as stored, still encoded."""

    dictionary: Dictionary
    data: bytes


def parse(data: bytes, position: int) -> tuple[Any, int]:  # noqa: PLR0912  the hot path of every read
    """Return the object that begins at ``position`` and the position after it. Raise :class:`Unsafe`."""
    inner: Any = None  # the innermost dictionary or array that is open
    outer: list[Any] = []
    while match := _STEP.match(data, position):
        kind, key, position = match.lastindex or 0, match[1], match.end()
        if inner is None and key is not None:
            return _name(key), match.end(1)
        if kind >= _END_OF_DICTIONARY:
            value, inner = _ended(inner, kind, key), outer.pop()
            if inner is None:
                return value, position
            continue
        if kind == _GENERATION:
            value = _reference(Ref, (int(match[3]), int(match[4])))
        elif kind == _STRING:
            position = string_end(data, position)
            value = data[match.start(_STRING) : position]
        else:
            value = _VALUES[kind](match[kind])
        if key is not None and type(inner) is dict:
            key = _name(key) if b"#" in key else key
            if key in inner and not (key == b"/Type" and inner[key] in _OF_SIGNATURES and value in _OF_SIGNATURES):
                raise Unsafe("a dictionary has a key twice")  # some readers take the first, others the last
            inner[key] = value
        elif inner is not None:
            _put(inner, key, value)
        if kind >= _DICTIONARY:
            outer.append(inner)
            inner = value
        elif inner is None:
            return value, position
        if len(outer) > _DEEPEST:
            break
    raise Unsafe(f"no object at byte {position}")


def _put(inner: Any, key: bytes | None, value: Any) -> None:
    """Append to the open array, where an apparent key is an element too. Raise :class:`Unsafe` for a dictionary."""
    if type(inner) is dict:
        raise Unsafe("a dictionary has a key or a value alone")
    inner += [value] if key is None else [_name(key), value]


def _ended(inner: Any, kind: int, key: bytes | None) -> Any:
    if type(inner) is not (dict if kind == _END_OF_DICTIONARY else list):
        raise Unsafe("an object is missing, or the wrong one ends")
    if key is not None:
        _put(inner, None, _name(key))
    return inner


def string_end(data: bytes, position: int) -> int:
    """Return where the literal string whose text begins at ``position`` ends. Raise :class:`Unsafe`."""
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
    """Return the name with unnecessary escapes resolved, so that equal names compare equal (ISO 32000-1, 7.3.5)."""
    return _ESCAPE.sub(_unescape, token) if b"#" in token else token


def unescaped(text: bytes) -> bytes:
    """Return names with every escape in them resolved (ISO 32000-1, 7.3.5)."""
    return _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), text) if b"#" in text else text


def _unescape(match: re.Match[bytes]) -> bytes:
    character = bytes([int(match[1], 16)])
    return character if character.isalnum() or character in b"-_.+*:,;!$&'@^`|~=?\"" else match[0].upper()


_reference = tuple.__new__  # twice as fast as Ref(...)


def _references(text: bytes) -> list[Ref]:
    return [_reference(Ref, (int(number), int(generation))) for number, generation in _REFERENCES.findall(text)]


def _numbers(text: bytes) -> list[int | bytes]:
    return [int(token) if token.isdigit() else _signed_or_real(token) for token in text.split()]


def _signed_or_real(token: bytes) -> int | bytes:
    if _REAL_ALONE.fullmatch(token):
        return token
    try:
        return int(token)
    except ValueError as error:
        raise Unsafe("an array has something like a number") from error


_VALUES: dict[int, Callable[[bytes], Any]] = {
    2: _name,
    5: int,
    6: bytes,
    7: _numbers,
    8: _references,
    9: lambda _: None,
    _DICTIONARY: lambda _: {},
    _ARRAY: lambda _: [],
}


def followed(value: Any, object_at: Callable[[Ref], Any]) -> Any:
    """Follow references until ``value`` is an object. Raise :class:`Unsafe`."""
    for _ in range(_MOST_STEPS):
        if type(value) is not Ref:
            return value
        value = object_at(value)
    raise Unsafe("references go round in a circle")


def runs(numbers: Iterable[int]) -> list[list[int]]:
    """Return ascending numbers grouped into runs of consecutive ones."""
    grouped = groupby(enumerate(numbers), key=lambda each: each[1] - each[0])
    return [[number for _, number in run] for _, run in grouped]


def skip_gap(data: bytes, position: int) -> int:
    """Return the position after white space and comments."""
    match = _GAP.match(data, position)
    return match.end() if match else position


def serialized(value: Any) -> bytes:  # noqa: PLR0911 (one way out for each kind)
    """Return the object as written into a file. A stream cannot stand inside another object."""
    kind = type(value)
    if kind is bytes:
        return value  # type: ignore[no-any-return]  # a token is its own text
    if kind is Ref:
        return b"%d %d R" % value
    if kind is int:
        return b"%d" % value
    if kind is dict:
        return b"<<" + b"".join([b"%b %b\n" % (key, serialized(item)) for key, item in value.items()]) + b">>"
    if kind is list:
        return b"[" + b" ".join([serialized(item) for item in value]) + b"]"
    if value is None:
        return b"null"
    if kind is float:
        return number(value)
    raise TypeError(f"{kind.__name__} is no PDF object")


def number(value: float) -> bytes:
    """Return a number token with five decimals at most, more than a page can show."""
    text = f"{value:.5f}".rstrip("0").rstrip(".")
    return b"0" if text in ("", "-0") else text.encode()


def text_string(text: str) -> bytes:
    """Return a text string token: ASCII as it is, everything else as UTF-16 (ISO 32000-1, 7.9.2.2)."""
    if text.isascii() and text.isprintable():
        return b"(" + re.sub(rb"([()\\])", rb"\\\1", text.encode()) + b")"
    return b"<FEFF" + text.encode("utf-16-be").hex().upper().encode() + b">"


def number_of(value: Any) -> float | None:
    """Return the number that a token denotes; ``None`` for anything else."""
    if isinstance(value, int):
        return float(value)
    try:
        return float(value) if isinstance(value, bytes) else None
    except ValueError:
        return None
