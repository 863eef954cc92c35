"""The characters of a page with right-to-left text in the order in which a reader takes them.

PDFium guesses that order from the order of drawing, in which every program has its own way: words come out backwards,
brackets turned, the letters of a ligature exchanged. Here each line is put together from where its glyphs stand.
"""

import re
import unicodedata
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from paraph.pdf.untrusted.jobs.page_text.as_read import as_read, direction, line_direction
from paraph.pdf.untrusted.jobs.page_text.brackets import facing
from paraph.pdf.untrusted.jobs.page_text.characters import Baseline, Characters, on_another_line
from paraph.pdf.untrusted.jobs.page_text.visual_order import runs_from_right, same_place

_MOST = 100_000  # characters of a page; about a second
_SPACE = 0.2  # relative to the text size: a wider gap separates words
_PRESENTATION_FORMS = re.compile("[\ufb1d-\ufdff\ufe70-\ufefc]+")
_ALEF = "\u0622\u0623\u0625\u0627\u0671"
_LAM = "\u0644"

Read = tuple[int, str]  # the index of a character and its text


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
    """Yield the glyphs of each line from left to right; a line is what is drawn on one baseline without another line
    between."""
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
