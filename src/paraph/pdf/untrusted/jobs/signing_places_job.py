"""Which words stamps cover where they are to stand."""

import re
from collections.abc import Sequence
from itertools import groupby

from paraph.pdf.structure.pages import Box
from paraph.pdf.untrusted.jobs.characters import PageText, TextRun, text_runs
from paraph.pdf.untrusted.jobs.page_pictures import show_form_fields
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile, drawing, require_page
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

Place = tuple[int, float, float, float, float]
"""Page number from 1, then left, bottom, width and height in points of reader space."""

_WITHIN = 2.0  # points by which a stamp may touch words
_FEWEST = 3  # letters that count as covered
_LONGEST = 40  # characters of covered words that are told, of each line
_MOST_PARTS = 3  # lines of which words are told
_NO_WORDS = re.compile(r"\[\[.*?\]\]|\{\{.*?\}\}|[_.…\s]+")  # tags, and blanks to be signed on


def find_covered_words(file: UntrustedFile, places: Sequence[Place]) -> JobAnswer:
    """Return ``{"covered": [["words", …], …]}``, the whole words under each place, by lines, in the order of the
    places."""
    document = file.pdfium()
    show_form_fields(document)
    covered: list[list[str]] = [[] for _ in places]
    in_order = sorted(range(len(places)), key=lambda index: places[index][0])
    for number, indexes in groupby(in_order, key=lambda index: places[index][0]):
        require_page(document, number)
        with drawing(number), PageText(file, number - 1) as page:
            runs = list(text_runs(page))
        # with blanks in place of what is no word
        words = [(_NO_WORDS.sub(lambda match: " " * len(match.group()), run.text), run) for run in runs]
        for index in indexes:
            covered[index] = _covered(words, places[index])
    return {"covered": covered}, b""


def _covered(runs: Sequence[tuple[str, TextRun]], place: Place) -> list[str]:
    """Return the words, with an ellipsis where their line goes on. A few letters at an edge are none."""
    _, x, y, width, height = place
    inner = (x + _WITHIN, y + _WITHIN, x + width - _WITHIN, y + height - _WITHIN)
    told: list[str] = []
    letters, alone = 0, False
    for text, run in runs:
        under = [at for at, box in enumerate(run.boxes) if text[at].isalnum() and _overlap(inner, box)]
        letters += len(under)
        if under and alone and len(text) == 1:  # of a line that does not run across, each letter is a run
            told[-1] += text
        elif under and len(told) < _MOST_PARTS:
            told.append(_whole_words(text, run.text, under[0], under[-1]))
        alone = bool(under) and len(text) == 1
    return told if letters >= _FEWEST else []


def _whole_words(text: str, line: str, first: int, last: int) -> str:
    start = text.rfind(" ", 0, first) + 1
    end = text.find(" ", last)
    end = len(text) if end < 0 else end
    words = text[start:end]
    if len(words) > _LONGEST:
        words, end = words[:_LONGEST].rpartition(" ")[0] or words[:_LONGEST], start
    return f"{'… ' * bool(line[:start].strip())}{words}{' …' * bool(line[end:].strip())}"


def _overlap(one: Box, other: Box) -> bool:
    """Return whether the middle of the other lies in the one, across; and any of it, up and down."""
    middle = (other[0] + other[2]) / 2
    return one[0] < middle < one[2] and one[1] < other[3] and other[1] < one[3]
