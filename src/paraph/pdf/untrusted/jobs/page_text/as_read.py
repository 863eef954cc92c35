"""The order of reading of bidirectional text on a line, from what stands there."""

import re
import unicodedata
from collections.abc import Iterator

from paraph.pdf.untrusted.jobs.page_text.bidi import PAIRS, reordered, without_weak

_BRACKETS = frozenset("".join(PAIRS))
_CLASSES = {"L": "L", "EN": "N", "ET": "T", "R": "R", "AL": "R", "AN": "R"}
_WITHOUT_RIGHT_TO_LEFT = re.compile("[^R]+")
_BRACKET_GROUPS = re.compile("B+")


def as_read(seen: str, *, base: str) -> list[int]:
    """Return the indices of ``seen``, a line from left to right as it stands on the page, in the order in which it is
    read in a paragraph of the direction ``base``, "L" or "R". Different texts may look alike; this is the one that
    keeps Latin words and the numbers beside them together."""
    text = seen if base == "L" else seen[::-1]
    kinds = list(map(unicodedata.bidirectional, text))
    for start, end in _latin(text):
        kinds[start:end] = ["L"] * (end - start)
    order = reordered(without_weak([base, *kinds, base], base), base)
    inside = [index - 1 for index in order if 0 < index <= len(text)]
    return inside if base == "L" else [len(text) - 1 - index for index in reversed(inside)]


def direction(text: str) -> str:
    """Return "R" if more of the letters belong to scripts that run from right to left, else "L"."""
    kinds = list(map(unicodedata.bidirectional, text))
    return "R" if kinds.count("R") + kinds.count("AL") > kinds.count("L") else "L"


def line_direction(seen: str, page: str) -> str:
    """Return the direction of a line, from left to right as it stands on a page with the direction ``page``: that of
    both its ends where they agree, and those between too if the ends are Latin."""
    letters = [_CLASSES[kind] for kind in map(unicodedata.bidirectional, seen) if kind in ("L", "R", "AL")]
    ends = {*letters[:1], *letters[-1:]}
    if ends == {"L"} and letters.count("R") > letters.count("L"):
        return page
    return page if len(ends) == 2 else next(iter(ends), "L")


def _latin(text: str) -> Iterator[tuple[int, int]]:
    """Yield where Latin words, the numbers beside them and what stands between begin and end."""
    pairs = zip(text, map(unicodedata.bidirectional, text), strict=True)
    classes = ["B" if letter in _BRACKETS else _CLASSES.get(kind, "S") for letter, kind in pairs]
    for stretch in _WITHOUT_RIGHT_TO_LEFT.finditer("".join(classes)):
        if "L" in stretch[0]:
            start, end = _stretch(stretch[0])
            yield stretch.start() + start, stretch.start() + end


def _stretch(classes: str) -> tuple[int, int]:
    """Return where Latin words with their numbers begin and end among characters of the same direction. Numbers beyond
    a bracket belong to what is beside them; a bracket belongs to the words if the other one of its pair does."""
    first, last = classes.index("L"), classes.rindex("L") + 1
    before, after = classes[:first], classes[last:]
    numbers_before = before.rpartition("B")[2].lstrip("S")
    numbers_after = after.partition("B")[0].rstrip("S")
    start = first - len(numbers_before) * ("N" in numbers_before)
    end = last + len(numbers_after) * ("N" in numbers_after)
    brackets = _BRACKET_GROUPS.findall(classes, start, end)
    if len(brackets) % 2 == 0:
        return start, end
    outer = start - len(classes[:start].rstrip("B"))
    if outer:
        return start - min(outer, len(brackets[0])), end
    return start, end + min(len(classes) - end - len(classes[end:].lstrip("B")), len(brackets[-1]))
