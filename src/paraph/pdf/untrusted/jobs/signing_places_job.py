"""Where stamps are to stand: which words they cover there, and the lines that wait for a signature: «Signature: ____»,
drawn as characters or as a rule."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby, islice

import pypdfium2
from pypdfium2 import raw

from paraph.pdf.refusal import no_such_page, page_not_shown
from paraph.pdf.structure.pages import Box, transform_box
from paraph.pdf.untrusted.jobs.characters import PageText, around, readable_pages
from paraph.pdf.untrusted.jobs.page_pictures import show_form_fields
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

Place = tuple[int, float, float, float, float]
"""Page number from 1, then left, bottom, width and height in points of reader space."""

_WITHIN = 2.0  # points by which a stamp may touch words
_FEWEST = 3  # letters that count as covered
_LONGEST = 40  # characters of covered words that are told, of each line
_MOST_PARTS = 3  # lines of which words are told
_NO_WORDS = re.compile(r"\[\[.*?\]\]|\{\{.*?\}\}|[_.…\s]+")  # tags, and blanks to be signed on
_SIGNED_HERE = re.compile(
    r"\bsign(?!al|ifi)|unterschrift|unterzeichne|gezeichnet|firma\b|firmato|firmado|firmante|assina|handtekening|"
    r"onderteken|podpis|underskrift|allekirjoitus|podpisom|aláírás|подпис|签名|签字|署名|서명|توقيع|חתימה",
    re.IGNORECASE,
)
_BLANK = re.compile(r"_{6,}|\.{12,}|…{4,}")
_WIDTHS = (60.0, 420.0)  # points of a rule
_THICKEST = 2.5
_BESIDE = 30.0  # points from the end of a label to the rule that it is of
_BELOW = 18.0  # points from a rule to the label under it
_MOST_LINES = 200
_MOST_OBJECTS = 5_000  # of a page, in which rules are looked for
_APART = 3.0  # relative to the height of the character before: a wider gap begins another run


@dataclass(frozen=True)
class TextRun:
    """Words that stand beside each other. ``boxes``: of each character of ``text``, in reader space."""

    text: str
    boxes: list[Box]


def _text_runs(page: PageText) -> Iterator[TextRun]:
    """Yield the runs in text order. Line ends and wide gaps end a run."""
    text: list[str] = []
    boxes: list[Box] = []
    for index, character in enumerate([*page.exact(), "\n"]):
        cell = page.cell(index) if character.strip() else None
        box = transform_box(page.geometry.to_reader, cell) if cell else None
        if text and (character in "\r\n" or (box and _apart(boxes[-1], box))):
            yield TextRun("".join(text), boxes)
            text, boxes = [], []
        if box:
            text.append(character)
            boxes.append(box)
        elif character.isspace() and text:
            text.append(" ")
            boxes.append(boxes[-1])


def _apart(last: Box, box: Box) -> bool:
    height = max(last[3] - last[1], 1.0)
    beside = min(last[3], box[3]) - max(last[1], box[1]) > 0
    return not beside or box[0] - last[2] > _APART * height or last[0] - box[2] > _APART * height


def find_covered_words(file: UntrustedFile, places: Sequence[Place]) -> JobAnswer:
    """Return ``{"covered": [["words", …], …]}``, the whole words under each place, by lines, in the order of the
    places."""
    document = file.pdfium()
    show_form_fields(document)
    covered: list[list[str]] = [[] for _ in places]
    in_order = sorted(range(len(places)), key=lambda index: places[index][0])
    for number, indexes in groupby(in_order, key=lambda index: places[index][0]):
        if not 1 <= number <= len(document):
            raise no_such_page(number, len(document))
        try:
            with PageText(file, number - 1) as page:
                runs = list(_text_runs(page))
        except (pypdfium2.PdfiumError, ValueError) as error:
            raise page_not_shown(number) from error
        # with blanks in place of what is no word
        words = [(_NO_WORDS.sub(lambda match: " " * len(match.group()), run.text), run) for run in runs]
        for index in indexes:
            covered[index] = _covered(words, places[index])
    return {"covered": covered}, b""


def _covered(runs: Sequence[tuple[str, TextRun]], place: Place) -> list[str]:
    """Return the words, with an ellipsis where their line goes on. A few letters at an edge are none."""
    _, x, y, width, height = place
    inner = (x + _WITHIN, y + _WITHIN, x + width - _WITHIN, y + height - _WITHIN)
    told, letters = [], 0
    for text, run in runs:
        under = [at for at, box in enumerate(run.boxes) if text[at].isalnum() and _overlap(inner, box)]
        letters += len(under)
        if under and len(told) < _MOST_PARTS:
            told.append(_whole_words(text, run.text, under[0], under[-1]))
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


def list_signature_lines(file: UntrustedFile) -> JobAnswer:
    """Return ``{"lines": [[label, page_number, left, bottom, right, top], …]}`` in the order of the pages."""
    found: list[list[str | float]] = []
    for page in readable_pages(file):
        found += [[label[:100], page.index + 1, *box] for label, box in _signature_lines(page)]
        if len(found) >= _MOST_LINES:
            break
    return {"lines": found[:_MOST_LINES]}, b""


def _signature_lines(page: PageText) -> Iterator[tuple[str, Box]]:
    """Yield label and place of each line. A blank is told by the words before it; where there are none, by those under
    it. One call for all text rules most pages out."""
    if not _SIGNED_HERE.search(page.quick()):
        return
    runs = list(_text_runs(page))
    words = [run for run in runs if _BLANK.search(run.text) is None]
    blanks = [(label or _label_below(box, words), box) for run in runs for label, box in _blanks(run)]
    rules = [(_label_before(box, words) or _label_below(box, words), box) for box in _rules(page)]
    for label, box in (*blanks, *rules):
        within = box[0] >= 0 and box[1] >= 0 and box[2] <= page.geometry.width and box[3] <= page.geometry.height
        if within and _SIGNED_HERE.search(label):
            yield label, box


def _blanks(run: TextRun) -> Iterator[tuple[str, Box]]:
    start = 0
    for match in _BLANK.finditer(run.text):
        boxes = run.boxes[match.start() : match.end()]
        if boxes:
            yield run.text[start : match.start()].strip(" :\t"), around(boxes)
        start = match.end()


def _label_before(rule: Box, words: list[TextRun]) -> str:
    for run in words:
        left, bottom, right, top = around(run.boxes)
        if left < rule[0] and -2 <= rule[0] - right <= _BESIDE and bottom - 4 <= rule[1] <= top:
            return run.text.strip(" :\t")
    return ""


def _label_below(rule: Box, words: list[TextRun]) -> str:
    for run in words:
        left, _, right, top = around(run.boxes)
        if -2 <= rule[1] - top <= _BELOW and left < rule[2] and right > rule[0]:
            return run.text.strip(" :\t")
    return ""


def _rules(page: PageText) -> list[Box]:
    """Return the thin horizontal strokes and bars among the page's own objects."""
    found = []
    for drawn in islice(page.page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=1), _MOST_OBJECTS):
        with suppress(pypdfium2.PdfiumError):
            box = transform_box(page.geometry.to_reader, drawn.get_bounds())
            if _WIDTHS[0] <= box[2] - box[0] <= _WIDTHS[1] and box[3] - box[1] <= _THICKEST:
                found.append(box)
    return found
