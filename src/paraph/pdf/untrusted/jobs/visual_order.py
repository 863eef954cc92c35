"""Search in text sorted by position, for tags whose parts are drawn in another order.

Producers draw a line font by font, and right-to-left text in various orders, with or without mirrored brackets. Sorting
by position undoes all of that; it costs more than reading in drawing order, so it is the second attempt. In
right-to-left text, bracket direction and vowel signs are ignored, since producers place them differently.

Tags and pages are folded alike (:mod:`paraph.pdf.untrusted.folding`).
"""

import functools
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import product

from paraph.pdf.untrusted.folding import fold
from paraph.pdf.untrusted.jobs.characters import Baseline, Characters, same_place
from paraph.pdf.untrusted.jobs.reading_order import MIRRORED, from_left

_SAME_LINE = 0.3  # relative to the text size, across the writing direction
_SHORTEST_PIECE = 3
Line = list[list[int]]  # glyphs from left to right, each with its characters


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


def may_contain_tag(folded: str, text: str, *, both_ways: bool) -> bool:
    """Return whether pieces of the tag stand on the page, so that sorting its characters may bring them together.
    ``both_ways``: some text of the document runs from right to left."""
    if both_ways:
        return set(_alike(folded)) <= set(_alike(text))
    pieces = [folded[start : start + _SHORTEST_PIECE] for start in range(len(folded) - _SHORTEST_PIECE + 1)]
    return any(piece in text for piece in pieces) and set(folded) <= set(text)


def read_lines(characters: Characters, exact: Sequence[str]) -> list[Line]:
    """Return the lines of a page, each from left to right in its own writing direction."""
    placed = [(index, characters.baseline(index)) for index, text in enumerate(exact) if text.strip()]
    placed.sort(key=lambda item: (round(item[1].angle, 1), item[1].across))
    found: list[list[tuple[int, Baseline]]] = []
    for index, here in placed:
        last = found[-1][-1][1] if found else None
        if last and abs(last.angle - here.angle) < 0.1 and abs(last.across - here.across) < _SAME_LINE * here.size:
            found[-1].append((index, here))
        else:
            found.append([(index, here)])
    return [_glyphs(sorted(line, key=lambda item: item[1].along)) for line in found]


def search_lines(
    lines: Sequence[Line], exact: Sequence[str], folded: str, *, both_ways: bool, as_stored: bool = False
) -> list[list[int]]:
    """Return the characters of each occurrence of the tag on a line. ``both_ways`` as for :func:`may_contain_tag`:
    brackets of a Latin tag in a Hebrew paragraph are mirrored too. ``as_stored``: search as programs without
    bidirectional text draw the tag, its first letter leftmost."""
    if not both_ways:
        return [hit for line in lines for hit in _search([i for glyph in line for i in glyph], exact, [folded])]
    ways = [_alike(folded)] if as_stored else _ways(folded)
    return [hit for line in lines for hit in _search_both_ways(line, exact, ways)]


def _glyphs(line: Sequence[tuple[int, Baseline]]) -> Line:
    glyphs: Line = []
    for position, (index, here) in enumerate(line):
        last = line[position - 1][1] if position else None
        if last and same_place(last, here):
            glyphs[-1].append(index)
        else:
            glyphs.append([index])
    return glyphs


def _search_both_ways(line: Line, exact: Sequence[str], ways: Sequence[str]) -> list[list[int]]:
    order = [index for glyph in line for index in glyph]
    turned = [index for glyph in line for index in reversed(glyph)]  # the letters of a ligature come in either order
    found = _search(order, exact, ways, alike=True)
    if turned != order:
        found += [hit for hit in _search(turned, exact, ways, alike=True) if hit not in found]
    return found


@functools.lru_cache(256)
def _ways(folded: str) -> list[str]:
    """Return the visual orders of the tag, in paragraphs of either direction and beside words of either."""
    ways = (
        from_left(folded, base=base, before=before, after=after, pair_brackets=pair_brackets)
        for base, before, after, pair_brackets in product("LR", "LR", "LR", (True, False))
    )
    return list(dict.fromkeys(_alike("".join(folded[index] for index in way)) for way in ways if way))


def _search(order: Sequence[int], exact: Sequence[str], ways: Sequence[str], *, alike: bool = False) -> list[list[int]]:
    text, places = fold_with_places(exact[index] for index in order)
    if alike:
        places = [place for place, character in zip(places, text, strict=True) if _alike(character)]
        text = _alike(text)
    stretches = [places[start : start + len(way)] for way in ways for start in occurrences(way, text)]
    return [[order[place] for place in sorted(set(stretch))] for stretch in stretches]


def _alike(text: str) -> str:
    """Turn all brackets one way and remove combining signs."""
    text = text.translate(MIRRORED)
    return text if text.isascii() else "".join(letter for letter in text if not unicodedata.combining(letter))
