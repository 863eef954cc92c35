"""The visual order of bidirectional text on a line (Unicode Standard Annex 9, without embeddings)."""

import unicodedata
from collections.abc import Sequence
from functools import partial
from itertools import groupby

PAIRS = (
    *("()", "[]", "{}", "\u2045\u2046", "\u2329\u232a", "\u27e8\u27e9", "\u2985\u2986", "\u3008\u3009"),
    *("\u300a\u300b", "\u300c\u300d", "\u300e\u300f", "\u3010\u3011", "\u3014\u3015", "\u3016\u3017"),
)
_CLOSED_BY = {pair[0]: pair[1] for pair in PAIRS}
MIRRORED = str.maketrans({pair[1]: pair[0] for pair in (*PAIRS, "<>", "\u00ab\u00bb", "\u2039\u203a", "\u2264\u2265")})

_STRONG = {"L": "L", "R": "R", "AN": "R", "EN": "R"}  # the direction that neutral characters take from a neighbour


def from_left(text: str, *, base: str, before: str, after: str, pair_brackets: bool = True) -> list[int]:
    """Return the indices of ``text`` from left to right; empty if other words would stand between its parts.
    ``base``: direction of the paragraph; ``before`` and ``after``: directions of the adjacent words; each "L" or
    "R". ``pair_brackets``: brackets face what they enclose (rule N0), which older programs do not implement."""
    kinds = without_weak([before, *map(unicodedata.bidirectional, text), after], base)
    if pair_brackets:
        _brackets(f" {text} ", kinds, base)
    order = reordered(kinds, base)
    positions = [place for place, index in enumerate(order) if 0 < index <= len(text)]
    return [order[place] - 1 for place in positions] if positions[-1] - positions[0] == len(text) - 1 else []


def reordered(kinds: Sequence[str], base: str) -> list[int]:
    """Return the order in which characters without weak kinds stand from left to right."""
    return _reordered(_levels(_neutral(kinds, base), base))


def without_weak(kinds: list[str], base: str) -> list[str]:
    """Apply rules W1 to W7, on numbers; only L, R, AN, EN and ON remain."""
    strong, previous = base, base
    for index, kind in enumerate(kinds):
        here = previous if kind == "NSM" else kind
        strong = here if here in ("L", "R", "AL") else strong
        kinds[index] = previous = "AN" if here == "EN" and strong == "AL" else here
    kinds = ["R" if kind == "AL" else kind for kind in kinds]
    for index in range(1, len(kinds) - 1):
        left, kind, right = kinds[index - 1 : index + 2]
        if left == right and ((kind == "CS" and left in ("EN", "AN")) or (kind == "ES" and left == "EN")):
            kinds[index] = left
    kinds = _terminators(kinds)
    for index, kind in enumerate(kinds):
        strong = kind if kind in ("L", "R") else base if index == 0 else strong
        kinds[index] = "L" if kind == "EN" and strong == "L" else kind if kind in _STRONG else "ON"
    return kinds


def _terminators(kinds: list[str]) -> list[str]:
    result: list[str] = []
    for kind, run in groupby(kinds):
        here = list(run)
        end = len(result) + len(here)
        beside = (result[-1:] == ["EN"]) or (end < len(kinds) and kinds[end] == "EN")
        result += ["EN"] * len(here) if kind == "ET" and beside else here
    return result


def _brackets(text: str, kinds: list[str], base: str) -> None:
    """Apply rule N0."""
    for start, end in _bracket_pairs(text):
        inside = {_STRONG[kind] for kind in kinds[start + 1 : end] if kind in _STRONG}
        if base in inside:
            kinds[start] = kinds[end] = base
        elif inside:
            earlier = next((_STRONG[kind] for kind in reversed(kinds[:start]) if kind in _STRONG), base)
            kinds[start] = kinds[end] = earlier


def _bracket_pairs(text: str) -> list[tuple[int, int]]:
    waiting: list[tuple[str, int]] = []
    pairs = []
    for index, character in enumerate(text):
        if character in _CLOSED_BY:
            waiting.append((_CLOSED_BY[character], index))
            continue
        opened = next((place for place in reversed(range(len(waiting))) if waiting[place][0] == character), None)
        if opened is not None:
            pairs.append((waiting[opened][1], index))
            del waiting[opened:]
    return sorted(pairs)


def _neutral(kinds: Sequence[str], base: str) -> list[str]:
    """Apply rules N1 and N2: neutral characters take the direction of both neighbours, else that of the paragraph."""
    result: list[str] = []
    for kind, run in groupby(kinds):
        here = list(run)
        if kind == "ON":
            end = len(result) + len(here)
            left = _STRONG[result[-1]] if result else base
            right = _STRONG[kinds[end]] if end < len(kinds) else base
            here = [left if left == right else base] * len(here)
        result += here
    return result


def _levels(kinds: Sequence[str], base: str) -> list[int]:
    """Apply rules I1 and I2: odd levels run from right to left."""
    if base == "L":
        return [{"L": 0, "R": 1}.get(kind, 2) for kind in kinds]
    return [1 if kind == "R" else 2 for kind in kinds]


def _reordered(levels: Sequence[int]) -> list[int]:
    """Apply rule L2."""
    order = list(range(len(levels)))
    for level in range(max(levels), 0, -1):
        result: list[int] = []
        for reaches, run in groupby(order, key=partial(_reaches, levels, level)):
            here = list(run)
            result += reversed(here) if reaches else here
        order = result
    return order


def _reaches(levels: Sequence[int], level: int, index: int) -> bool:
    return levels[index] >= level
