"""A number as people type it."""

import re
import unicodedata

_SPACES = re.compile(r"(?<=\d)[\s’'](?=\d{3})")  # between thousands, of any width
_MARKS = re.compile("[.,]")


def plain_number(typed: object) -> object:
    """Return a number with a point and without marks between thousands, whether it was typed with a comma or a point,
    and in whatever digits. The last mark is the decimal one, unless it stands there more than once. Anything else is
    returned as it is."""
    if not isinstance(typed, str):
        return typed
    text = "".join(_plain(sign) for sign in typed.strip())
    text = _SPACES.sub("", text)
    marks = _MARKS.findall(text)
    if not marks:
        return text
    if marks.count(marks[-1]) > 1:
        return text.replace(marks[-1], "") if len(set(marks)) == 1 and _has_thousands(text, marks[-1]) else text
    whole, _, rest = text.rpartition(marks[-1])
    if len(marks) > 1 and not _has_thousands(whole, marks[0]):
        return text
    return f"{_MARKS.sub('', whole) or '0'}.{rest}" if rest else _MARKS.sub("", whole)


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
