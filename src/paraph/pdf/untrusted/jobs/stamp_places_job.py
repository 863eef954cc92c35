"""What a page shows where stamps are to stand: whether it is too dark for their letters, and which words they cover."""

import re
from collections.abc import Sequence
from itertools import groupby

import pypdfium2
from PIL import Image

from paraph.pdf.refusal import no_such_page, page_not_shown
from paraph.pdf.structure.geometry import Box, PageGeometry
from paraph.pdf.untrusted.jobs.page_geometry import geometry_of_page
from paraph.pdf.untrusted.jobs.page_pictures.form_fields import show_form_fields
from paraph.pdf.untrusted.jobs.page_text.characters import Characters
from paraph.pdf.untrusted.jobs.page_text.text_runs import text_runs
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

Place = tuple[int, float, float, float, float]
"""Page number from 1, then left, bottom, width and height in points of reader space."""

_CELL = 20  # points a side: lines of text leave such a cell light, and even a headline does; photographs do not
_TOO_DARK = 179  # mean of a cell, of 255: the grey words of a stamp have a contrast of less than 3 on anything darker
_SHARE = 0.08  # of the cells: one letter of a name on a dark bar cannot be read
_WITHIN = 2.0  # points by which a stamp may touch words
_FEWEST = 3  # letters that count as covered
_LONGEST = 60  # characters of covered words that are told
_NO_WORDS = re.compile(r"\[\[.*?\]\]|\{\{.*?\}\}|[_.…\s]+")  # tags, and blanks to be signed on


def judge_places(
    file: UntrustedFile, places: Sequence[Place], *, pictures: bool = True, texts: bool = False
) -> JobAnswer:
    """Return ``{"dark": [true, …], "covered": ["words", …]}``, one of each for each place, in their order. Without
    ``pictures`` none is dark, without ``texts`` nothing is covered."""
    document = file.pdfium()
    show_form_fields(document)
    dark, covered = [False] * len(places), [""] * len(places)
    in_order = sorted(range(len(places)), key=lambda index: places[index][0])
    for number, indexes in groupby(in_order, key=lambda index: places[index][0]):
        if not 1 <= number <= len(document):
            raise no_such_page(number, len(document))
        try:
            page = document[number - 1]
            geometry = geometry_of_page(file, page, number - 1)
            runs = _text_runs(page, geometry) if texts else []
            for index in indexes:
                dark[index] = pictures and _is_dark(page, geometry, places[index])
                covered[index] = _covered(runs, places[index])
            page.close()
        except (pypdfium2.PdfiumError, ValueError) as error:
            raise page_not_shown(number) from error
    return {"dark": dark, "covered": covered}, b""


def _is_dark(page: pypdfium2.PdfPage, geometry: PageGeometry, place: Place) -> bool:
    """By the page's own picture, at a pixel a point."""
    _, x, y, width, height = place
    margins = (x, y, geometry.width - x - width, geometry.height - y - height)
    crop = tuple(max(0.0, margin / geometry.unit) for margin in margins)
    picture = page.render(scale=geometry.unit, crop=crop, grayscale=True).to_pil().convert("L")
    cells = max(1, round(picture.width / _CELL)), max(1, round(picture.height / _CELL))
    means: bytes = picture.resize(cells, Image.Resampling.BOX).tobytes()
    return sum(mean < _TOO_DARK for mean in means) > _SHARE * len(means)


def _text_runs(page: pypdfium2.PdfPage, geometry: PageGeometry) -> list[tuple[str, list[Box]]]:
    """Return the lines of text with the places of their letters, and with blanks in place of what is no word."""
    with Characters(page) as characters:
        runs = list(text_runs(characters, geometry))
    return [(_NO_WORDS.sub(lambda match: " " * len(match.group()), run.text), run.boxes) for run in runs]


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
    """Whether the middle of the other lies in the one, across; and any of it, up and down."""
    middle = (other[0] + other[2]) / 2
    return one[0] < middle < one[2] and one[1] < other[3] and other[1] < one[3]
