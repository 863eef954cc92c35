"""The search for lines that wait for a signature: «Signature: ____», drawn as characters or as a rule."""

import re
from collections.abc import Iterator
from itertools import islice

import pypdfium2
from pypdfium2 import raw

from paraph.pdf.structure.geometry import Box, PageGeometry, transform_box
from paraph.pdf.untrusted.jobs.page_geometry import geometry_of_page
from paraph.pdf.untrusted.jobs.page_text.characters import Characters, around
from paraph.pdf.untrusted.jobs.page_text.text_runs import TextRun, text_runs
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

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


def list_signature_lines(file: UntrustedFile) -> JobAnswer:
    """Return ``{"lines": [[label, page_number, left, bottom, right, top], …]}`` in the order of the pages."""
    document = file.pdfium()
    found: list[list[str | float]] = []
    for index in range(len(document)):
        found += [[label[:100], index + 1, *box] for label, box in _of_page(file, document, index)]
        if len(found) >= _MOST_LINES:
            break
    return {"lines": found[:_MOST_LINES]}, b""


def _of_page(file: UntrustedFile, document: pypdfium2.PdfDocument, index: int) -> list[tuple[str, Box]]:
    """Most pages are ruled out by one call for all their text."""
    try:
        page = document[index]
    except pypdfium2.PdfiumError:
        return []  # a page that cannot be opened shows no text
    try:
        with Characters(page) as characters:
            if not _SIGNED_HERE.search(characters.quick()):
                return []
            geometry = geometry_of_page(file, page, index)
            runs = list(text_runs(characters, geometry))
            blanks = [blank for run in runs for blank in _blanks(run)]
            words = [run for run in runs if _BLANK.search(run.text) is None]
            rules = [*_under_words(blanks, words), *_by_label(_rules(page, geometry), words)]
            return [(label, box) for label, box in rules if _within(box, geometry)]
    finally:
        page.close()


def _blanks(run: TextRun) -> Iterator[tuple[str, Box]]:
    """Yield each blank of a line of text with the words before it."""
    start = 0
    for match in _BLANK.finditer(run.text):
        boxes = run.boxes[match.start() : match.end()]
        if boxes:
            yield run.text[start : match.start()].strip(" :\t"), around(boxes)
        start = match.end()


def _under_words(blanks: list[tuple[str, Box]], words: list[TextRun]) -> Iterator[tuple[str, Box]]:
    """A blank is told by the words before it; where there are none, by those under it."""
    for label, box in blanks:
        said = label or _label_below(box, words)
        if _SIGNED_HERE.search(said):
            yield said, box


def _by_label(rules: list[Box], words: list[TextRun]) -> Iterator[tuple[str, Box]]:
    for box in rules:
        label = _label_before(box, words) or _label_below(box, words)
        if _SIGNED_HERE.search(label):
            yield label, box


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


def _rules(page: pypdfium2.PdfPage, geometry: PageGeometry) -> list[Box]:
    """Return the thin horizontal strokes and bars among the page's own objects."""
    found = []
    for drawn in islice(page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=1), _MOST_OBJECTS):
        try:
            box = transform_box(geometry.to_reader, drawn.get_bounds())
        except pypdfium2.PdfiumError:
            continue
        if _WIDTHS[0] <= box[2] - box[0] <= _WIDTHS[1] and box[3] - box[1] <= _THICKEST:
            found.append(box)
    return found


def _within(box: Box, geometry: PageGeometry) -> bool:
    return box[0] >= 0 and box[1] >= 0 and box[2] <= geometry.width and box[3] <= geometry.height
