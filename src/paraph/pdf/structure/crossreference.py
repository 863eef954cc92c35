"""The cross-reference of a PDF, read lazily (ISO 32000-1, 7.5.4 and 7.5.8).

Table entries and stream rows have fixed widths, so looking up one object costs the same in a file of ten objects as in
one of a million. Anything that deviates from the format raises :class:`Unsafe`.
"""

import re
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from itertools import pairwise

from paraph.pdf.structure.objects import GAP, Dictionary, PdfStream, Unsafe, parse, skip_gap, unescaped

_START = re.compile(rb"startxref[\x00\t\n\x0c\r ]++(\d++)[\x00\t\n\x0c\r ]")
_NEWER = re.compile(rb"obj|xref|trailer")
_SUBSECTION = re.compile(rb"[\x00\t\n\x0c\r ]*(\d+)[ \t]+(\d+)[ \t]*(?:\r\n|\r|\n)[\r\n \t]*")
TABLE_ENTRY = re.compile(rb"(\d{10}) (\d{5}) ([nf])[ \r][\r\n]")
_TAIL = 2048  # bytes in which a revision names its cross-reference
_MOST_SECTIONS = 4096
LARGEST_NUMBER = 4_194_303
"""The largest object number for PDFium, MuPDF and poppler. Beyond it, some repair a file, or show nothing of it."""
_WITHIN = 1024  # bytes in which a linearized file says that it is one
_LONGEST = 1 << 20  # bytes searched where the first object cannot be read
_OBJECT = re.compile(GAP + rb"\d++" + GAP + rb"\d++" + GAP + rb"obj")
_NAME = b"Linearized"
_SPACE = rb"[\t\n\r ]"
_MARKER = re.compile(
    rb"%%PDF-\d\.\d%(s)b*+(?<=[\r\n])(?:%%[^\r\n]*+[\r\n]%(s)b*+)*+[1-9]\d{0,9} 0 obj%(s)b*+<<(?:%(s)b*+/"
    rb"(?:(?:Linearized%(s)b++1(?:\.0)?|L%(s)b++(?P<length>[1-9]\d{0,9})|[EONPT]%(s)b++\d{1,10})(?=[\t\n\r />])"
    rb"|H%(s)b*+\[[\d\t\n\r ]++\]))++%(s)b*+>>%(s)b*+endobj(?=%(s)b)" % {b"s": _SPACE}
)
_KEY = re.compile(rb"/[A-Za-z]++")


@dataclass(slots=True)
class CrossReferenceEntry:
    """Where an object is: at byte ``place``, or the ``index``-th object of object stream ``place``."""

    packed: bool
    place: int
    index: int  # of a plain object: its generation


@dataclass(frozen=True)
class CrossReferenceSection:
    """One section. ``runs``: (first object number, count, where its first entry or row is)."""

    runs: list[tuple[int, int, int]]
    trailer: Dictionary
    rows: bytes = b""  # decoded rows of a cross-reference stream
    widths: tuple[int, int, int] = (0, 0, 0)

    @property
    def is_stream(self) -> bool:
        return any(self.widths)


class CrossReference:
    """The sections of a file, newest first, each read when needed. ``trailer`` is that of the newest section, which
    begins at byte ``start``."""

    def __init__(
        self, data: bytes, decoded: Callable[[PdfStream], bytes], stream_at: Callable[[int], PdfStream]
    ) -> None:
        self._data = data
        self._decoded = decoded
        self._stream_at = stream_at
        self.start = newest_section(data)
        self._known: list[CrossReferenceSection] = []
        self._starts: dict[int, None] = {}  # of the sections read, in their order
        self._previous: int | None = self.start
        self._read_previous()
        self.trailer = self._known[0].trailer

    @property
    def sections(self) -> list[CrossReferenceSection]:
        while self._read_previous():
            pass
        return self._known

    def start_within(self, size: int) -> int | None:
        """Return where the newest section within the first ``size`` bytes begins; ``None`` if there is none."""
        while self._previous is not None and self._previous >= size:
            self._read_previous()
        return next((start for start in self._starts if start < size), self._previous)

    def with_section(self, start: int, trailer: Dictionary) -> "CrossReference":
        """Return the cross-reference of a revision whose newest section, of the same kind as the one before, begins at
        ``start``. It has no entries: the objects come from the revision."""
        later = copy(self)
        newest = CrossReferenceSection([], trailer, widths=self._known[0].widths)
        vars(later).update(start=start, trailer=trailer, _known=[newest], _previous=None)
        return later

    @property
    def next_number(self) -> int:
        """The first object number that no section knows, whatever /Size claims."""
        highest = 0
        for section in self.sections:
            size = section.trailer.get(b"/Size")
            highest = max(highest, size if isinstance(size, int) else 0)
            highest = max([highest, *(first + count for first, count, _ in section.runs)])
        return highest

    def entry(self, number: int) -> CrossReferenceEntry | None:
        """Return where object ``number`` is; ``None`` if it is free or unknown."""
        index = 0
        while index < len(self._known) or self._read_previous():
            section = self._known[index]
            index += 1
            for first, count, place in section.runs:
                if first <= number < first + count:
                    if section.is_stream:
                        return _row(section, place, number - first)
                    return _table_entry(self._data, place + 20 * (number - first))
        return None

    def _read_previous(self) -> bool:
        """Read one more section; ``False`` if there is none."""
        if self._previous is None:
            return False
        if self._previous in self._starts or len(self._starts) == _MOST_SECTIONS:
            raise Unsafe("the cross-reference sections go round in a circle")
        self._starts[self._previous] = None
        section = self._section(self._previous)
        previous, hybrid = section.trailer.get(b"/Prev"), section.trailer.get(b"/XRefStm")
        if previous is not None and not isinstance(previous, int):
            raise Unsafe("/Prev is no integer")
        self._known.append(section)
        if not section.is_stream and isinstance(hybrid, int):
            self._known.append(self._stream_section(hybrid))
        self._previous = previous
        return True

    def _section(self, position: int) -> CrossReferenceSection:
        start = skip_gap(self._data, position)
        if self._data[start : start + 4] != b"xref":
            return self._stream_section(position)
        position = start + 4
        runs: list[tuple[int, int, int]] = []
        while match := _SUBSECTION.match(self._data, position):
            first, count, place = int(match[1]), int(match[2]), match.end()
            runs.append((first, count, place))
            position = place + 20 * count
            if count:
                _table_entry(self._data, place)
                _table_entry(self._data, position - 20)
        position = skip_gap(self._data, position)
        if self._data[position : position + 7] != b"trailer":
            raise Unsafe("a cross-reference table is not followed by its trailer")
        trailer, _ = parse(self._data, position + 7)
        if not isinstance(trailer, dict):
            raise Unsafe("a trailer is no dictionary")
        _check_runs(runs)
        return CrossReferenceSection(runs, trailer)

    def _stream_section(self, position: int) -> CrossReferenceSection:
        stream = self._stream_at(position)
        dictionary = stream.dictionary
        widths, size = _widths(dictionary.get(b"/W")), dictionary.get(b"/Size")
        if dictionary.get(b"/Type") != b"/XRef" or not isinstance(size, int) or widths is None:
            raise Unsafe("startxref does not point at a cross-reference")
        rows, row_width = self._decoded(stream), sum(widths)
        index = dictionary.get(b"/Index") or [0, size]
        runs, place = [], 0
        for first, count in zip(index[::2], index[1::2], strict=True):
            runs.append((first, count, place))
            place += count * row_width
        if place > len(rows):
            raise Unsafe("a cross-reference stream is too short")
        _check_runs(runs)
        return CrossReferenceSection(runs, dictionary, rows, widths)


def places(data: bytes, sections: Iterable[CrossReferenceSection]) -> list[int]:
    """Return, in order, where every object begins that any section names, in use or replaced since."""
    found = set[int]()
    for section in sections:
        for _, count, place in section.runs:
            for index in range(count):
                row = _row(section, place, index) if section.is_stream else _table_entry(data, place + 20 * index)
                if row and not row.packed:
                    found.add(row.place)
    return sorted(found)


def _table_entry(data: bytes, place: int) -> CrossReferenceEntry | None:
    match = TABLE_ENTRY.match(data, place)
    if match is None:
        raise Unsafe("a cross-reference entry is not 20 bytes wide")
    return CrossReferenceEntry(False, int(match[1]), int(match[2])) if match[3] == b"n" else None


def newest_section(data: bytes) -> int:
    """Return where the newest section begins according to the last ``startxref``. A broken update at the end must
    not be skipped: readers that search for objects would show it, and readers that use the ``startxref`` before it
    would not."""
    start = _START.match(data, max(data.rfind(b"startxref", max(0, len(data) - _TAIL)), 0))
    if start is None or _NEWER.search(data, start.end()):
        raise Unsafe("the file does not end with a startxref that is good")
    return int(start[1])


def _check_runs(runs: list[tuple[int, int, int]]) -> None:
    """Raise :class:`Unsafe` if an object has two entries: some readers use the first, others the last."""
    ordered = sorted(runs)
    if any(first + count > following for (first, count, _), (following, _, _) in pairwise(ordered)):
        raise Unsafe("a cross-reference section has two entries for one object")


def _widths(value: object) -> tuple[int, int, int] | None:
    if not isinstance(value, list) or len(value) != 3:
        return None
    a, b, c = value
    fits = all(isinstance(width, int) and 0 <= width <= 8 for width in value) and b > 0
    return (a, b, c) if fits else None


def _row(section: CrossReferenceSection, place: int, index: int) -> CrossReferenceEntry | None:
    a, b, c = section.widths
    start = place + index * (a + b + c)
    row = section.rows[start : start + a + b + c]
    kind = int.from_bytes(row[:a], "big") if a else 1
    if kind not in (1, 2):
        return None
    return CrossReferenceEntry(kind == 2, int.from_bytes(row[a : a + b], "big"), int.from_bytes(row[a + b :], "big"))


def misstates_length(pdf: bytes) -> bool:
    """Return whether the file says that it is linearized, but does not plainly state the exact length of its first
    revision."""
    beginning = unescaped(pdf[: max(_first_object_end(pdf), _WITHIN)])
    if _NAME not in beginning:
        return False
    marker = _MARKER.match(pdf)
    if marker is None or marker["length"] is None or beginning.count(_NAME) > 1:
        return True
    keys = _KEY.findall(marker[0])
    if len(set(keys)) < len(keys):
        return True
    length = int(marker["length"])
    try:
        # The end of the first revision, and of no other, names the cross-reference after the first object.
        return length > len(pdf) or newest_section(pdf[max(0, length - _TAIL) : length]) != skip_gap(pdf, marker.end())
    except Unsafe:
        return True


def _first_object_end(pdf: bytes) -> int:
    head = _OBJECT.match(pdf)
    try:
        return parse(pdf, head.end())[1] if head else _WITHIN
    except Unsafe:
        return _LONGEST
