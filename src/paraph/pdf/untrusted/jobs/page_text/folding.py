"""Folding of text, so that what looks the same compares equal.

Tags and pages are folded alike: compatibility decomposition (ligatures, composed accents), no white space (it cannot be
told from kerning), no invisible characters, one hyphen. Letter case stays.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable

# PDFium returns a hyphen at a line end as U+0002 or U+FFFE; fonts map others to various hyphens
_HYPHENS = str.maketrans(dict.fromkeys("\x02\ufffe\u00ad\u2010\u2011", "-"))
_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]+")


def fold(text: str) -> str:
    """Return the folded text."""
    folded = "".join(text.translate(_HYPHENS).split())
    if folded.isascii() and folded.isprintable():
        return folded
    return "".join(_INVISIBLE.sub("", unicodedata.normalize("NFKD", folded)).split())


def fold_with_places(characters: Iterable[str]) -> tuple[str, list[int]]:
    """Return the folded text of single characters, and for each of its characters the index it came from."""
    folded: list[str] = []
    places: list[int] = []
    for index, character in enumerate(characters):
        for part in _fold_character(character):
            position = len(folded)
            mark = unicodedata.combining(part) if part > "\u02ff" else 0
            while mark and position and unicodedata.combining(folded[position - 1]) > mark:
                position -= 1  # canonical order, whatever the order of drawing
            folded.insert(position, part)
            places.insert(position, index)
    return "".join(folded), places


_fold_character = functools.lru_cache(4096)(fold)  # a page has few different characters


def occurrences(needle: str, text: str) -> list[int]:
    """Return where ``needle`` starts in ``text``, both folded, except where an accent follows its last letter."""
    starts = []
    start = text.find(needle)
    while start >= 0:
        after = text[start + len(needle) : start + len(needle) + 1]
        if not (after and unicodedata.combining(after)):
            starts.append(start)
        start = text.find(needle, start + 1)
    return starts
