"""The characters of a page with right-to-left text in the order in which a reader takes them.

PDFium guesses that order from the order of drawing, in which every program has its own way: words come out backwards,
brackets turned, the letters of a ligature exchanged. Here each line is put together from where its glyphs stand, and
read by the rules of the Unicode Standard, annex 9, for bidirectional text without embeddings.
"""

import re
import unicodedata
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from paraph.pdf.untrusted.jobs.characters import Baseline, Characters, on_another_line, same_place

PAIRS = (
    "()", "[]", "{}", "\u2045\u2046", "\u2329\u232a", "\u27e8\u27e9", "\u2985\u2986", "\u3008\u3009",
    "\u300a\u300b", "\u300c\u300d", "\u300e\u300f", "\u3010\u3011", "\u3014\u3015", "\u3016\u3017",
)  # fmt: skip
_CLOSED_BY = {pair[0]: pair[1] for pair in PAIRS}
MIRRORED = str.maketrans({pair[1]: pair[0] for pair in (*PAIRS, "<>", "\u00ab\u00bb", "\u2039\u203a", "\u2264\u2265")})

_STRONG = {"L": "L", "R": "R", "AN": "R", "EN": "R"}  # the direction that neutral characters take from a neighbour
_MOST = 100_000  # characters of a page; about a second
_SPACE = 0.2  # relative to the text size: a wider gap separates words
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff]")
_PRESENTATION_FORMS = re.compile("[\ufb1d-\ufdff\ufe70-\ufefc]+")
_ALEF = "\u0622\u0623\u0625\u0627\u0671"
_LAM = "\u0644"
Read = tuple[int, str]  # the index of a character and its text
_BRACKETS = frozenset("".join(PAIRS))
_CLASSES = {"L": "L", "EN": "N", "ET": "T", "R": "R", "AL": "R", "AN": "R"}
_WITHOUT_RIGHT_TO_LEFT = re.compile("[^R]+")
_BRACKET_GROUPS = re.compile("B+")
_PAIR_OF = {bracket: pair for pair in (*PAIRS, "\u00ab\u00bb", "\u2039\u203a") for bracket in pair}


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
    levels = {"L": 0, "R": 1} if base == "L" else {"R": 1}  # rules I1 and I2: odd levels run from right to left
    return _reordered([levels.get(kind, 2) for kind in _neutral(kinds, base)])


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


def _reordered(levels: Sequence[int]) -> list[int]:
    """Apply rule L2."""
    order = list(range(len(levels)))
    for level in range(max(levels), 0, -1):
        result: list[int] = []
        turned = [each >= level for each in levels]
        for is_turned, run in groupby(order, key=turned.__getitem__):
            here = list(run)
            result += reversed(here) if is_turned else here
        order = result
    return order


@dataclass
class _Glyph:
    """The place and extent of a glyph along its line; its letters, and the marks over and under it, as indices."""

    baseline: Baseline
    left: float
    right: float
    letters: list[int]
    marks: list[int]


def runs_from_right(text: str) -> bool:
    return bool(_RIGHT_TO_LEFT.search(text))


def in_reading_order(characters: Characters, exact: Sequence[str]) -> list[Read]:
    """Return the characters with their indices, white space between words and a line feed after each line;
    unchanged where no text runs from right to left. Index -1: white space that the page does not have."""
    if characters.count > _MOST or not runs_from_right("".join(exact)):
        return list(enumerate(exact))
    page = direction("".join(exact))
    return [read for line in _lines(characters, exact) for read in (*_read(line, exact, page), (-1, "\n"))]


def _lines(characters: Characters, exact: Sequence[str]) -> Iterator[list[_Glyph]]:
    """Yield the glyphs of each line, drawn on one baseline with no other line between, from left to right."""
    line: list[tuple[int, Baseline]] = []
    for index, text in enumerate(exact):
        if not text.strip() and characters.cell(index) is None:
            continue  # made up by PDFium
        here = characters.baseline(index)
        if line and on_another_line(line[-1][1], here):
            yield _glyphs(characters, exact, line)
            line = []
        line.append((index, here))
    if line:
        yield _glyphs(characters, exact, line)


def _glyphs(characters: Characters, exact: Sequence[str], line: list[tuple[int, Baseline]]) -> list[_Glyph]:
    glyphs: list[_Glyph] = []
    marks: list[tuple[int, float]] = []
    for index, here in sorted(line, key=lambda item: item[1].along):
        left, right = characters.extent(index, here)
        if glyphs and same_place(glyphs[-1].baseline, here):
            glyph = glyphs[-1]
            glyph.left, glyph.right = min(glyph.left, left), max(glyph.right, right)
            (glyph.marks if unicodedata.combining(exact[index]) else glyph.letters).append(index)
        elif unicodedata.combining(exact[index]):
            marks.append((index, (left + right) / 2))
        else:
            glyphs.append(_Glyph(here, left, right, [index], []))
    places = [glyph.baseline.along for glyph in glyphs]
    for index, middle in marks if glyphs else []:
        glyphs[max(bisect(places, middle) - 1, 0)].marks.append(index)
    return glyphs


def _read(line: Sequence[_Glyph], exact: Sequence[str], page: str) -> list[Read]:
    spelled = _spaced(line, exact)
    seen = "".join(reads[0][1][:1] or " " for reads in spelled)
    order = as_read(seen, base=line_direction(seen, page))
    read = [read for place in order for read in spelled[place]]
    texts = facing([text for _, text in read])
    return [(index, text) for (index, _), text in zip(read, texts, strict=True)]


def _spaced(line: Sequence[_Glyph], exact: Sequence[str]) -> list[list[Read]]:
    """Return each glyph as it is spelled, with white space where two stand apart."""
    spelled = [_spelled(line[0], exact)] if line else []
    for before, glyph in pairwise(line):
        if glyph.baseline.along - _end(before) > _SPACE * glyph.baseline.size:
            spelled.append([(-1, " ")])
        spelled.append(_spelled(glyph, exact))
    return spelled


def _end(glyph: _Glyph) -> float:
    """Return where the next glyph is due. For some characters, PDFium gives the ink as the cell; these are taken to
    have the same room on both sides."""
    return glyph.right + max(glyph.left - glyph.baseline.along, 0.0)


def _spelled(glyph: _Glyph, exact: Sequence[str]) -> list[Read]:
    """Return the letters of a glyph and then its marks: first lam and then alef, which joins no letter after it."""
    letters = sorted(glyph.letters)
    if len(letters) == 2 and exact[letters[0]] in _ALEF and exact[letters[1]] == _LAM:
        letters.reverse()
    return [
        (index, _PRESENTATION_FORMS.sub(lambda forms: unicodedata.normalize("NFKC", forms[0]), exact[index]))
        for index in (*letters, *sorted(glyph.marks))
    ]


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
    """Return the direction of ``seen``, a line from left to right as it stands on the page: that of both its ends, but
    that of the ``page`` where the ends differ or are Latin with more right-to-left letters between them."""
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


def facing(texts: Sequence[str]) -> list[str]:
    """Return the characters of a line in reading order, its brackets turned to what stands beside them: at the start
    of a word they open, at its end they close, within it they close what is open."""
    starts = _after_space(texts)
    ends = _after_space(texts[::-1])[::-1]
    still_open: Counter[str] = Counter()
    turned = []
    for text, start, end in zip(texts, starts, ends, strict=True):
        pair = _PAIR_OF.get(text)
        if pair is not None:
            closes = end if start != end else still_open[pair] > 0
            still_open[pair] += -1 if closes and still_open[pair] else 0 if closes else 1
            turned.append(pair[1] if closes else pair[0])
        else:
            turned.append(text)
    return turned


def _after_space(texts: Sequence[str]) -> list[bool]:
    """Return whether each character follows white space or the start of the line, brackets between them left out."""
    after, answers = True, []
    for text in texts:
        answers.append(after)
        after = after if text in _PAIR_OF else not text.strip()
    return answers
