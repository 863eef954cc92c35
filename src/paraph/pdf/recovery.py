"""Finding the objects of a file whose cross-reference is wrong, so that it can be extended all the same.

The uploaded bytes stay; the new revision brings a cross-reference of everything and points back to nothing.
"""

import io
import re
from collections.abc import Iterator

import pikepdf

from paraph.pdf.crossreference import Entry, Section
from paraph.pdf.objects import Dictionary, Ref, Unsafe, parse
from paraph.pdf.pages import pages
from paraph.pdf.reader import STREAM, Reader, stream_end

_LANDMARK = re.compile(
    rb"(?<![0-9])(\d{1,7})[\x00\t\n\x0c\r ]+(\d{1,5})[\x00\t\n\x0c\r ]+obj(?![A-Za-z0-9])"
    rb"|trailer[\x00\t\n\x0c\r ]*(?=<<)"
)
_MOST_BROKEN = 200
_KEPT = (b"/Root", b"/Info", b"/ID", b"/Encrypt")


class RecoveredCrossReference:
    """Where the objects really are; the last of several with one number counts, as in every viewer."""

    def __init__(self, data: bytes) -> None:
        self.start: int | None = None  # there is no section to point back to
        self.carried: dict[int, Entry] = {}
        self.trailer: Dictionary = {}
        self.containers: list[int] = []
        catalog: Ref | None = None
        for ref, place, value in _objects(data):
            if isinstance(value, dict):
                if ref is None or value.get(b"/Type") == b"/XRef":
                    self.trailer.update({key: value[key] for key in _KEPT if key in value})
                elif value.get(b"/Type") == b"/ObjStm":
                    self.containers.append(ref.number)
                elif value.get(b"/Type") == b"/Catalog":
                    catalog = ref
            if ref is not None:
                self.carried[ref.number] = Entry(False, place, ref.generation)
        self.trailer.setdefault(b"/Root", catalog)
        if self.trailer[b"/Root"] is None:
            raise Unsafe("no trailer names the root of the document")

    @property
    def sections(self) -> list[Section]:
        """One, in the form that can say where packed objects are."""
        return [Section([], self.trailer, widths=(1, 5, 2))]

    @property
    def next_number(self) -> int:
        """The first number that is free."""
        return max(self.carried, default=0) + 1

    def start_within(self, size: int) -> int | None:
        """There is none."""
        del size
        return None

    def entry(self, number: int) -> Entry | None:
        """Where object ``number`` is."""
        return self.carried.get(number)


def recover(data: bytes) -> Reader:
    """A reader of the objects found. Raises :class:`Unsafe` where qpdf reads the file and finds other pages."""
    crossreference = RecoveredCrossReference(data)
    reader = Reader(data, crossreference)
    for container in crossreference.containers:
        for index, number in enumerate(reader.numbers_in(container)):
            known = crossreference.carried.get(number)
            if known is None or known.packed:
                crossreference.carried[number] = Entry(True, container, index)
    found = [page.ref.number for page in pages(reader)]
    if _pages_of_qpdf(data) not in (None, found):
        raise Unsafe("qpdf finds other pages")
    return reader


def _pages_of_qpdf(data: bytes) -> list[int] | None:
    """The numbers of the page objects, None where qpdf does not read the file."""
    try:
        with pikepdf.open(io.BytesIO(data), suppress_warnings=True) as document:
            return [page.obj.objgen[0] for page in document.pages]
    except (pikepdf.PikepdfError, ValueError, RuntimeError):
        return None


def _objects(data: bytes) -> Iterator[tuple[Ref | None, int, object]]:
    """Every object outside of streams, with None in place of its number for a trailer. Each that is broken may cost a
    reading to the end of the file, hence their limit."""
    position = broken = 0
    while landmark := _LANDMARK.search(data, position):
        position = landmark.end()
        try:
            value, end = parse(data, position)
        except Unsafe:
            broken += 1
            if broken > _MOST_BROKEN:
                raise
            continue
        ref = Ref(int(landmark[1]), int(landmark[2])) if landmark[1] else None
        yield ref, landmark.start(), value
        position = end
        if isinstance(value, dict) and (start := STREAM.match(data, end)):
            position = stream_end(data, start.end(), value.get(b"/Length"))
