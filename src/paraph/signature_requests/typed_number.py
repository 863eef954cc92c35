"""A number as people type it."""

import re
import unicodedata
from typing import NamedTuple

from paraph import words

_SPACES = re.compile(r"(?<=\d)[\s’'](?=\d{3})")  # between thousands, of any width
_MARKS = re.compile("[.,]")
_TWO_READINGS = re.compile(r"([+-]?[1-9]\d{0,2})([.,])(\d{3})")


class Readings(NamedTuple):
    """What a number could be, as the language writes it: with thousands, or with decimals."""

    large: str
    small: str


def two_readings(typed: object, locale: str) -> Readings | None:
    """Return both readings of a number such as 1.250, whose only mark stands between thousands in the language, and
    before decimals elsewhere; None where there is one at most."""
    found = _TWO_READINGS.fullmatch(_plain_text(typed)) if isinstance(typed, str) else None
    thousands, decimal = words.number_marks(locale)
    if found is None or found[2] != thousands:
        return None
    decimals = found[3].rstrip("0")
    return Readings(found[1] + found[3], f"{found[1]}{decimal}{decimals}" if decimals else found[1])


def two_readings_anywhere(typed: str) -> Readings | None:
    """Return both readings of such a number where nobody knows in which language it was written; None where there is
    one at most. They have a point and can be read in one way only: three decimals get a zero more."""
    found = _TWO_READINGS.fullmatch(_plain_text(typed))
    if found is None:
        return None
    decimals = found[3].rstrip("0")
    if len(decimals) == 3:
        decimals += "0"
    return Readings(found[1] + found[3], f"{found[1]}.{decimals}" if decimals else found[1])


def plain_number(typed: object) -> object:
    """Return a number with a point and without marks between thousands, whether it was typed with a comma or a point,
    and in whatever digits. The last mark is the decimal one, unless it stands there more than once. Anything else is
    returned as it is."""
    if not isinstance(typed, str):
        return typed
    text = _plain_text(typed)
    marks = _MARKS.findall(text)
    if not marks:
        return text
    if marks.count(marks[-1]) > 1:
        return text.replace(marks[-1], "") if len(set(marks)) == 1 and _has_thousands(text, marks[-1]) else text
    whole, _, rest = text.rpartition(marks[-1])
    if len(marks) > 1 and not _has_thousands(whole, marks[0]):
        return text
    return f"{_MARKS.sub('', whole) or '0'}.{rest}" if rest else _MARKS.sub("", whole)


def _plain_text(typed: str) -> str:
    return _SPACES.sub("", "".join(_plain(sign) for sign in typed.strip()))


def _plain(sign: str) -> str:
    if sign == "\u066b":
        return ","
    if sign in "\u066c\u02bc":
        return "'"
    if sign == "\u2212":
        return "-"
    digit = unicodedata.decimal(sign, None)
    return sign if digit is None else str(digit)


def _has_thousands(text: str, mark: str) -> bool:
    first, *groups = text.lstrip("+-").split(mark)
    return 1 <= len(first) <= 3 and all(len(group) == 3 for group in groups)
