"""The characters of a page as PDFium extracts them, located in reader space."""

import ctypes
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Self

import pypdfium2
from pypdfium2 import raw

from paraph.pdf.structure.pages import Box, PageGeometry, around, transform_box
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile, geometry_of_page

_EDGE = 0.5  # points by which visible ink may extend beyond the page
_SAMPLE = 16  # interval in characters at which the quick text is verified
_NEXT_LINE = 0.6  # relative to the text size: further off the baseline is another line
_SAME_PLACE = 0.01  # relative to the text size: characters of one glyph
_TURNED = 0.1  # radians
_TORN = 3.0  # relative to the text size: a wider gap separates columns
_APART = 3.0  # relative to the height of the character before: a wider gap begins another run


@dataclass(frozen=True)
class Baseline:
    """The position of a character in user space: writing direction, distance along and across it, and text size."""

    angle: float
    along: float
    across: float
    size: float


class Characters:
    """The text of one page; a context manager. Indices are PDFium's, generated white space included."""

    def __init__(self, page: pypdfium2.PdfPage) -> None:
        self._page = page
        self._text = page.get_textpage()
        self.count: int = self._text.count_chars()
        self._rectangle = raw.FS_RECTF()  # reused, which saves most of the time of each call
        self._type3: dict[int, bool] = {}  # keyed by the address of the text object

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._text.close()

    def quick(self) -> str:
        """Return all text in one call. Characters beyond the basic plane may be missing, and indices may differ."""
        return str(self._text.get_text_range())

    def exact(self) -> list[str]:
        """Return each character by its index; the second half of a surrogate pair is empty."""
        text = self.quick()
        if len(text) == self.count and self._agrees(text):
            return list(text)
        codes = [raw.FPDFText_GetUnicode(self._text, index) for index in range(self.count)]
        characters = [chr(code) if code <= 0x10FFFF else "" for code in codes]
        for index, (high, low) in enumerate(pairwise(codes)):
            if 0xD800 <= high < 0xDC00 <= low < 0xE000:
                whole = (chr(high) + chr(low)).encode("utf-16", "surrogatepass").decode("utf-16")
                characters[index : index + 2] = [whole, ""]
        return characters

    def box(self, index: int) -> Box | None:
        """Return the ink of a character in user space, or its cell if the font draws nothing; ``None`` without area."""
        left, right, bottom, top = (ctypes.c_double() for _ in range(4))
        found = raw.FPDFText_GetCharBox(self._text, index, left, right, bottom, top)
        box = (left.value, bottom.value, right.value, top.value)
        return box if found and _has_area(box) else self.cell(index)

    def cell(self, index: int) -> Box | None:
        """Return the cell that the font allots to a character, in user space; ``None`` without area."""
        rectangle = self._rectangle
        if not raw.FPDFText_GetLooseCharBox(self._text, index, rectangle):
            return None
        box = (rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)
        return box if _has_area(box) else None

    def baseline(self, index: int) -> Baseline:
        matrix = raw.FS_MATRIX()
        raw.FPDFText_GetMatrix(self._text, index, matrix)
        x, y = ctypes.c_double(), ctypes.c_double()
        raw.FPDFText_GetCharOrigin(self._text, index, x, y)
        size = raw.FPDFText_GetFontSize(self._text, index) * math.hypot(matrix.c, matrix.d)
        angle = math.atan2(matrix.b, matrix.a)
        cosine, sine = math.cos(angle), math.sin(angle)
        along = x.value * cosine + y.value * sine
        size = self._size_by_look(index) or abs(size) or 1.0
        return Baseline(angle, along, y.value * cosine - x.value * sine, size)

    def extent(self, index: int, baseline: Baseline) -> tuple[float, float]:
        """Return where a character begins and ends along its line."""
        if (cell := self.cell(index)) is None:
            return baseline.along, baseline.along
        cosine, sine = math.cos(baseline.angle), math.sin(baseline.angle)
        corners = [x * cosine + y * sine for x in (cell[0], cell[2]) for y in (cell[1], cell[3])]
        return min(corners), max(corners)

    def _size_by_look(self, index: int) -> float:
        """Return the approximate size of a character of a Type 3 font, else 0. The nominal size means nothing there:
        a glyph of 40 units at size 0.12 is as tall as one of 0.4 units at size 12."""
        cell = self.cell(index) if self._is_type3(index) else None
        return max(cell[2] - cell[0], cell[3] - cell[1]) if cell else 0.0

    def _is_type3(self, index: int) -> bool:
        """Return whether the font is of Type 3: only these have no font program, not even a substitute."""
        drawn = raw.FPDFText_GetTextObject(self._text, index)
        if not drawn:
            return False
        address = ctypes.addressof(drawn.contents)
        if address not in self._type3:
            length = ctypes.c_size_t()
            raw.FPDFFont_GetFontData(raw.FPDFTextObj_GetFont(drawn), None, 0, length)
            self._type3[address] = length.value == 0
        return self._type3[address]

    def _agrees(self, text: str) -> bool:
        """Return whether samples show the indices of the quick text to be PDFium's, so none need be read singly."""
        places = {*range(0, self.count, _SAMPLE), self.count - 1}
        return all(raw.FPDFText_GetUnicode(self._text, index) == ord(text[index]) for index in places if index >= 0)


def _has_area(box: Box) -> bool:
    return box[0] < box[2] and box[1] < box[3] and all(map(math.isfinite, box))


class PageText(Characters):
    """The text of one page of a file; the page is opened and closed with it. Raise PdfiumError."""

    def __init__(self, file: UntrustedFile, index: int) -> None:
        self._file, self.index = file, index
        self.page = file.pdfium()[index]
        super().__init__(self.page)

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self.page.close()

    @cached_property
    def geometry(self) -> PageGeometry:
        return geometry_of_page(self._file, self.page, self.index)


def readable_pages(file: UntrustedFile) -> Iterator[PageText]:
    """Yield the pages that can be opened, one at a time; others show no text."""
    for index in range(len(file.pdfium())):
        try:
            page = PageText(file, index)
        except pypdfium2.PdfiumError:
            continue
        with page:
            yield page


def lines(page: PageText, indices: Sequence[int]) -> list[Box] | None:
    """Return one box in reader space per line that the characters stand on. ``None`` if not all of them are visible,
    or if they are too far apart to be one text."""
    found: list[list[tuple[Baseline, Box]]] = []
    for index in indices:
        box = page.box(index)
        if box is None:
            continue
        box = transform_box(page.geometry.to_reader, box)
        if not _seen(box, page.geometry):
            return None
        here = page.baseline(index)
        if found and not on_another_line(found[-1][-1][0], here):
            found[-1].append((here, box))
        else:
            found.append([(here, box)])
    if not found or any(_torn([here for here, _ in line]) for line in found):
        return None
    return [around([box for _, box in line]) for line in found]


def on_another_line(last: Baseline, here: Baseline) -> bool:
    """Return whether a character stands on another line than the last one, or on one that runs in another direction."""
    is_turned = abs(last.angle - here.angle) > _TURNED
    return is_turned or abs(last.across - here.across) > _NEXT_LINE * max(last.size, here.size)


def same_place(last: Baseline, here: Baseline) -> bool:
    """Return whether two characters of a line, sorted by place, are of one glyph."""
    return here.along - last.along < _SAME_PLACE * here.size


def _seen(box: Box, geometry: PageGeometry) -> bool:
    return box[0] > -_EDGE and box[1] > -_EDGE and box[2] < geometry.width + _EDGE and box[3] < geometry.height + _EDGE


def _torn(line: Sequence[Baseline]) -> bool:
    ordered = sorted(line, key=lambda here: here.along)  # reading order goes back and forth in some scripts
    return any(after.along - before.along > _TORN * max(before.size, after.size) for before, after in pairwise(ordered))


@dataclass(frozen=True)
class TextRun:
    """``boxes``: of each character of ``text``, in reader space; ``indexes``: PDFium's index of each."""

    text: str
    boxes: list[Box]
    indexes: list[int]


def text_runs(page: PageText) -> Iterator[TextRun]:
    """Yield the runs in text order. Line ends and wide gaps end a run."""
    text: list[str] = []
    boxes: list[Box] = []
    indexes: list[int] = []
    for index, character in enumerate([*page.exact(), "\n"]):
        cell = page.cell(index) if character.strip() else None
        box = transform_box(page.geometry.to_reader, cell) if cell else None
        if text and (character in "\r\n" or (box and _apart(boxes[-1], box))):
            yield TextRun("".join(text), boxes, indexes)
            text, boxes, indexes = [], [], []
        if box or (character.isspace() and text):
            text.append(character if box else " ")
            boxes.append(box or boxes[-1])
            indexes.append(index)


def _apart(last: Box, box: Box) -> bool:
    height = max(last[3] - last[1], 1.0)
    beside = min(last[3], box[3]) - max(last[1], box[1]) > 0
    return not beside or box[0] - last[2] > _APART * height or last[0] - box[2] > _APART * height
