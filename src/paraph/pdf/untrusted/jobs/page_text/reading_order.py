"""The characters of a page with right-to-left text in the order in which a reader takes them.

PDFium guesses that order from the order of drawing, in which every program has its own way: words come out backwards,
brackets turned, the letters of a ligature exchanged. Here each line is put together from where its glyphs stand.
"""

import re
import unicodedata
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from paraph.pdf.untrusted.jobs.page_text.bidi import PAIRS, reordered, without_weak
from paraph.pdf.untrusted.jobs.page_text.characters import Baseline, Characters, on_another_line
from paraph.pdf.untrusted.jobs.page_text.visual_order import runs_from_right, same_place

_MOST = 100_000  # characters of a page; about a second
_SPACE = 0.2  # relative to the text size: a wider gap separates words
_PRESENTATION_FORMS = re.compile("[\ufb1d-\ufdff\ufe70-\ufefc]+")
_ALEF = "\u0622\u0623\u0625\u0627\u0671"
_LAM = "\u0644"

Read = tuple[int, str]  # the index of a character and its text
_BRACKETS = frozenset("".join(PAIRS))
_CLASSES = {"L": "L", "EN": "N", "ET": "T", "R": "R", "AL": "R", "AN": "R"}
_WITHOUT_RIGHT_TO_LEFT = re.compile("[^R]+")
_BRACKET_GROUPS = re.compile("B+")
_PAIR_OF = {bracket: pair for pair in (*PAIRS, "\u00ab\u00bb", "\u2039\u203a") for bracket in pair}


@dataclass
class _Glyph:
    """Its place and extent along the line; its letters, and the marks over and under it, as indices."""

    baseline: Baseline
    left: float
    right: float
    letters: list[int]
    marks: list[int]


def in_reading_order(characters: Characters, exact: Sequence[str]) -> list[Read]:
    """Return the characters with their indices, white space between words, a line feed after each line. Unchanged
    where no text runs from right to left; index -1 is white space that stands nowhere."""
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
    """Return where the next glyph is due. Of some characters PDFium gives the ink for the cell; they are taken to have
    the same room on both sides of it."""
    return glyph.right + max(glyph.left - glyph.baseline.along, 0.0)


def _spelled(glyph: _Glyph, exact: Sequence[str]) -> list[Read]:
    """Return the letters of a glyph and then its marks. Of lam and alef in one glyph, lam is the first: alef does not
    join the letter after it."""
    letters = sorted(glyph.letters)
    if len(letters) == 2 and exact[letters[0]] in _ALEF and exact[letters[1]] == _LAM:
        letters.reverse()
    return [(index, _PRESENTATION_FORMS.sub(_plain, exact[index])) for index in (*letters, *sorted(glyph.marks))]


def _plain(forms: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", forms[0])


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
