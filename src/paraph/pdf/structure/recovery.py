"""Recovery of a file whose cross-reference is wrong: its objects are found by search, so that it can be extended.

The uploaded bytes stay; an added revision brings a cross-reference of everything and points back to nothing.
"""

import io
import re
from collections.abc import Iterator
from typing import NamedTuple

import pikepdf

from paraph.pdf.structure.crossreference import CrossReferenceEntry, CrossReferenceSection
from paraph.pdf.structure.objects import Dictionary, Ref, Unsafe, parse
from paraph.pdf.structure.pages import pages
from paraph.pdf.structure.reader import STREAM, PdfReader, stream_end
from paraph.pdf.structure.revision import Revision

_LANDMARK = re.compile(
    rb"(?<![0-9])(\d{1,7})[\x00\t\n\x0c\r ]+(\d{1,5})[\x00\t\n\x0c\r ]+obj(?![A-Za-z0-9])"
    rb"|trailer[\x00\t\n\x0c\r ]*(?=<<)"
)
_MOST_BROKEN = 200
_KEPT = (b"/Root", b"/Info", b"/ID", b"/Encrypt")


def recovered(data: bytes) -> bytes:
    """Return the file followed by a cross-reference of all objects found. Raise :class:`Unsafe` where objects
    contradict each other, or where qpdf reads the file and finds other pages."""
    return data + bytes(Revision(recover(data)).write().text)


def recover(data: bytes) -> PdfReader:
    """Return a reader of the objects found. Raises as :func:`recovered` does."""
    crossreference = RecoveredCrossReference(data)
    packed = PdfReader(data, crossreference)
    crossreference.unpack(packed)
    reader = PdfReader(data, crossreference, packed.encryption)
    found = [page.ref.number for page in pages(reader)]
    if _pages_of_qpdf(data) not in (None, found):
        raise Unsafe("qpdf finds other pages")
    return reader


class _FoundObject(NamedTuple):
    ref: Ref
    place: int
    is_object_stream: bool


class RecoveredCrossReference:
    """Where the objects really are. Of several with one number the last in the file counts, as in every viewer."""

    def __init__(self, data: bytes) -> None:
        self.start: int | None = None  # there is no section to point back to
        self.carried: dict[int, CrossReferenceEntry] = {}
        self.trailer: Dictionary = {}
        self._found: list[_FoundObject] = []
        self._generations: dict[int, int] = {}
        self._containers: set[int] = set()
        catalog: Ref | None = None
        for ref, place, value in _objects(data):
            if isinstance(value, dict):
                if ref is None or value.get(b"/Type") == b"/XRef":
                    self.trailer.update({key: value[key] for key in _KEPT if key in value})
                elif value.get(b"/Type") == b"/Catalog":
                    catalog = ref
            if ref is not None:
                self._add(_FoundObject(ref, place, isinstance(value, dict) and value.get(b"/Type") == b"/ObjStm"))
        self.trailer.setdefault(b"/Root", catalog)
        if self.trailer[b"/Root"] is None:
            raise Unsafe("no trailer names the root of the document")

    def unpack(self, reader: PdfReader) -> None:
        """Add the contents of the object streams, in file order. ``reader`` reads by this cross-reference."""
        entries: dict[int, CrossReferenceEntry] = {}
        for ref, place, is_object_stream in self._found:
            entries[ref.number] = CrossReferenceEntry(False, place, ref.generation)
            for index, number in enumerate(reader.numbers_in(ref.number) if is_object_stream else ()):
                self._check_generation(Ref(number))
                entries[number] = CrossReferenceEntry(True, ref.number, index)
        self.carried.update(entries)

    @property
    def sections(self) -> list[CrossReferenceSection]:
        """One section, in the format that can locate objects inside object streams."""
        return [CrossReferenceSection([], self.trailer, widths=(1, 5, 2))]

    @property
    def next_number(self) -> int:
        return max(self.carried, default=0) + 1

    def start_within(self, size: int) -> int | None:
        """Return ``None``: there is no section in the file."""
        del size
        return None

    def entry(self, number: int) -> CrossReferenceEntry | None:
        return self.carried.get(number)

    def _add(self, found: _FoundObject) -> None:
        number = found.ref.number
        self._check_generation(found.ref)
        if number in self._containers or (found.is_object_stream and number in self.carried):
            raise Unsafe("an object stream was replaced")
        if found.is_object_stream:
            self._containers.add(number)
        self._found.append(found)
        self.carried[number] = CrossReferenceEntry(False, found.place, found.ref.generation)

    def _check_generation(self, ref: Ref) -> None:
        if self._generations.setdefault(ref.number, ref.generation) != ref.generation:
            raise Unsafe("an object has several generations, of which readers choose differently")


def _pages_of_qpdf(data: bytes) -> list[int] | None:
    """Return the object numbers of the pages as qpdf finds them; ``None`` if it cannot read the file."""
    try:
        with pikepdf.open(io.BytesIO(data), suppress_warnings=True) as document:
            return [page.obj.objgen[0] for page in document.pages]
    except (pikepdf.PikepdfError, ValueError, RuntimeError):
        return None


def _objects(data: bytes) -> Iterator[tuple[Ref | None, int, object]]:
    """Yield every object outside of streams as (reference, offset, value); a trailer has no reference. Each broken
    object may cost a scan to the end of the file, so their number is limited."""
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
