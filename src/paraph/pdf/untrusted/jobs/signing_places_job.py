"""Which words stamps cover where they are to stand."""

import re
from collections.abc import Sequence
from itertools import groupby

import pypdfium2

from paraph.pdf.refusal import no_such_page, page_not_shown
from paraph.pdf.structure.pages import Box
from paraph.pdf.untrusted.jobs.characters import PageText
from paraph.pdf.untrusted.jobs.page_pictures import show_form_fields
from paraph.pdf.untrusted.jobs.text_runs import text_runs
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

Place = tuple[int, float, float, float, float]
"""Page number from 1, then left, bottom, width and height in points of reader space."""

_WITHIN = 2.0  # points by which a stamp may touch words
_FEWEST = 3  # letters that count as covered
_LONGEST = 60  # characters of covered words that are told
_NO_WORDS = re.compile(r"\[\[.*?\]\]|\{\{.*?\}\}|[_.…\s]+")  # tags, and blanks to be signed on


def find_covered_words(file: UntrustedFile, places: Sequence[Place]) -> JobAnswer:
    """Return ``{"covered": ["words", …]}``, what stands under each place, in their order."""
    document = file.pdfium()
    show_form_fields(document)
    covered = [""] * len(places)
    in_order = sorted(range(len(places)), key=lambda index: places[index][0])
    for number, indexes in groupby(in_order, key=lambda index: places[index][0]):
        if not 1 <= number <= len(document):
            raise no_such_page(number, len(document))
        try:
            with PageText(file, number - 1) as page:
                runs = list(text_runs(page))
        except (pypdfium2.PdfiumError, ValueError) as error:
            raise page_not_shown(number) from error
        # with blanks in place of what is no word
        words = [(_NO_WORDS.sub(lambda match: " " * len(match.group()), run.text), run.boxes) for run in runs]
        for index in indexes:
            covered[index] = _covered(words, places[index])
    return {"covered": covered}, b""


def _covered(runs: Sequence[tuple[str, list[Box]]], place: Place) -> str:
    _, x, y, width, height = place
    inner = (x + _WITHIN, y + _WITHIN, x + width - _WITHIN, y + height - _WITHIN)
    under = (
        "".join(letter for letter, box in zip(text, boxes, strict=True) if _overlap(inner, box)).strip()
        for text, boxes in runs
    )
    told = " ".join(words for words in under if words)
    return told[:_LONGEST] if sum(letter.isalnum() for letter in told) >= _FEWEST else ""


def _overlap(one: Box, other: Box) -> bool:
    """Return whether the middle of the other lies in the one, across; and any of it, up and down."""
    middle = (other[0] + other[2]) / 2
    return one[0] < middle < one[2] and one[1] < other[3] and other[1] < one[3]
