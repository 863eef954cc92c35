"""The text of appended objects, read strictly (ISO 32000-2, 7.2 and 7.3), and their values, compared by meaning.

Readers agree on plain objects alone. Comments, null bytes, unbalanced brackets and damaged numbers are therefore
refused, and so is a dictionary that has a key twice, however the key is spelled.
"""

import re
from decimal import Decimal
from typing import Any

from paraph.pdf.structure.encryption import string_bytes
from paraph.pdf.structure.objects import PdfStream, Ref, Unsafe, parse, string_end

SPACE = rb"[\t\n\r ]*+"
NATURAL = rb"(?:0|[1-9]\d{0,9}+)"
"""A whole number without sign and leading zeros, as in references, lengths and offsets."""
_ESCAPED = rb"#(?!00|3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa])[0-9A-Fa-f]{2}"  # letters and digits need no escape
_NEXT = rb"(?=[\t\n\r ()<>\[\]/])"
_NAME = rb"/(?:[^\x00-\x20#()<>\[\]{}/%]|" + _ESCAPED + rb")*+"
_REFERENCE = NATURAL + rb" " + NATURAL + rb" R"
_NUMBER = NATURAL + rb"|-[1-9]\d{0,9}+|-?(?:" + NATURAL + rb"\.\d{0,40}+|\.\d{1,40}+)"
_ATOM = rb"(?:" + rb"|".join([_NAME, _REFERENCE, _NUMBER, rb"true|false|null"]) + rb")" + _NEXT
_TOKEN = re.compile(SPACE + rb"(?:(<<|\[)|(>>|\])|(\()|<[0-9A-Fa-f\t\n\r ]*+>|" + _ATOM + rb")")
_OPENED, _CLOSED, _STRING = 1, 2, 3
_ENDS = {b"<<": b">>", b"[": b"]"}
_ESCAPE = re.compile(rb"#([0-9A-Fa-f]{2})")
_DEEPEST = 100
_OF_ANY_NUMBER = {b"/UserUnit", b"/PZ", b"/Dur", b"/CA", b"/ca", b"/LW", b"/ML", b"/FL"}


class NotPermitted(Exception):
    """What was appended is not known to be harmless. The message completes "From byte N on, …"."""


def strict_object(data: bytes, position: int) -> tuple[Any, int]:
    """Return the direct object at ``position``, as :func:`paraph.pdf.structure.objects.parse` represents it, and where
    it ends. Raises :class:`NotPermitted` unless every byte of it is plain."""
    end = _plain_end(data, position)
    try:
        value, parsed = parse(data[position:end], 0)
    except Unsafe as error:
        raise NotPermitted(f"an object cannot be read: {error}") from error
    if position + parsed != end:
        raise NotPermitted("an object is not written plainly")
    meaning(value)  # of equal keys that are spelled differently the parser knows only some
    return value, end


def _plain_end(data: bytes, position: int) -> int:
    open_brackets: list[bytes] = []
    while match := _TOKEN.match(data, position):
        position = match.end()
        if match[_OPENED]:
            open_brackets.append(_ENDS[match[_OPENED]])
        elif match[_CLOSED]:
            if not open_brackets or open_brackets.pop() != match[_CLOSED]:
                break
        elif match[_STRING]:
            position = _end_of_string(data, position)
        if not open_brackets:
            return position
        if len(open_brackets) > _DEEPEST:
            break
    raise NotPermitted("an object is not written plainly")


def _end_of_string(data: bytes, position: int) -> int:
    try:
        return string_end(data, position)
    except Unsafe as error:
        raise NotPermitted(f"{error}") from error


def meaning(value: Any) -> Any:
    """Return what a value means, so that equal values compare equal however they are written: whole numbers as
    :class:`~decimal.Decimal`, others, names and strings with their kind. Whole numbers with a point are others, since
    readers want some numbers whole; a null entry is one, since readers take it for the end of what is inherited.
    References stay. Raises :class:`NotPermitted` for a dictionary that has a key twice."""
    if isinstance(value, dict):
        entries = {_decoded_name(key): meaning(item) for key, item in value.items()}
        if len(entries) != len(value):
            raise NotPermitted("a dictionary has a key twice")
        return entries
    if isinstance(value, PdfStream):
        return ("stream", meaning(value.dictionary), value.data)
    if isinstance(value, list):
        return ["array", *(meaning(item) for item in value)]
    if isinstance(value, bytes):
        return _meaning_of_token(value)
    return Decimal(value) if isinstance(value, int) else value


def without_points(value: Any) -> Any:
    """Return a meaning as programs write it that drop the points of whole numbers, where every reader takes both: in
    arrays of nothing but numbers (boxes, widths, matrices), and for what need not be whole."""
    if isinstance(value, dict):
        return {key: _bare(item) if key in _OF_ANY_NUMBER else without_points(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    items = [_bare(item) for item in value[1:]]
    is_of_numbers = all(isinstance(item, Decimal) or _is_real(item) for item in items)
    return ["array", *(items if is_of_numbers else map(without_points, value[1:]))]


def _bare(value: Any) -> Any:
    return value[1] if _is_real(value) and value[1] == value[1].to_integral() else value


def _is_real(value: Any) -> bool:
    return isinstance(value, tuple) and value[0] == "real"


def _meaning_of_token(token: bytes) -> Any:
    if token[:1] == b"/":
        return ("name", _decoded_name(token))
    if is_string(token):
        return ("string", string_bytes(token))
    return ("truth", token) if token in (b"true", b"false") else ("real", Decimal(token.decode("ascii")))


def _decoded_name(token: bytes) -> bytes:
    return _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), token) if b"#" in token else token


def is_string(value: Any) -> bool:
    """Return whether a value is the token of a string."""
    return isinstance(value, bytes) and value[:1] in (b"(", b"<")


def is_plain(value: Any) -> bool:
    """Return whether a value is direct through and through: it holds no reference."""
    if isinstance(value, dict):
        return all(is_plain(item) for item in value.values())
    if isinstance(value, list):
        return all(is_plain(item) for item in value)
    return not isinstance(value, Ref | PdfStream)
