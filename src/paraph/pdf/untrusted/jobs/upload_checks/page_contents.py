"""Bounds on what page contents unpack to, counted as often as pages draw them."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from paraph.pdf.refusal import too_complex
from paraph.pdf.structure.objects import PdfStream, Ref, Unsafe
from paraph.pdf.structure.page_shapes import PageShape, hole_number, reference
from paraph.pdf.structure.pages import PageNode
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.unpacking import TooLarge, unpacked
from paraph.pdf.untrusted.jobs.upload_checks.expansion import most_unpacked

_LARGEST_PAGE = 64 << 20  # bytes of the contents of one page; real pages rarely exceed 3 MB
_LARGEST_REPEATED = 512 << 20  # bytes drawn repeatedly, by several pages or by one


def check_contents(reader: PdfReader, pages: Iterable[PageNode]) -> None:
    """Raise PdfRefused ``too_complex`` if the contents of a page, or repeated contents, unpack to more than any
    document needs. Contents drawn once are counted with the file's other streams."""
    check = _ContentsCheck(reader)
    for page in pages:
        check.add(page)


class _ContentsCheck:
    """Estimates streams by their length, and unpacks only those that might exceed a bound."""

    def __init__(self, reader: PdfReader) -> None:
        self._reader = reader
        self._sizes: dict[Ref, int] = {}
        self._exact: set[Ref] = set()
        self._repeats: Counter[Ref] = Counter()
        self._repeated = 0
        self._shapes: dict[PageShape, Any] = {}

    def add(self, page: PageNode) -> None:
        drawn = self._drawn(page)
        for ref in drawn:
            if ref in self._sizes:
                self._repeats[ref] += 1
                self._repeated += self._sizes[ref]
            else:
                self._sizes[ref] = self._estimate(ref)
        if self._sum(Counter(drawn), _LARGEST_PAGE, sum(map(self._sizes.__getitem__, drawn))) > _LARGEST_PAGE:
            raise too_complex()
        if self._repeated > _LARGEST_REPEATED:
            self._repeated = self._sum(self._repeats, _LARGEST_REPEATED, self._repeated)
            if self._repeated > _LARGEST_REPEATED:
                raise too_complex()

    def _sum(self, uses: Counter[Ref], limit: int, estimate: int) -> int:
        """Return the total, exact if the estimate exceeds the limit."""
        if estimate <= limit:
            return estimate
        for ref in uses:
            if ref not in self._exact:
                self._exact.add(ref)
                self._sizes[ref] = self._exactly(ref)
        return sum(self._sizes[ref] * count for ref, count in uses.items())

    def _estimate(self, ref: Ref) -> int:
        stream = self._reader.resolve(ref)
        if not isinstance(stream, PdfStream):
            return 0
        filters = stream.dictionary.get(b"/Filter")
        return most_unpacked(filters if isinstance(filters, list) else [filters], len(stream.data))

    def _exactly(self, ref: Ref) -> int:
        try:
            return len(unpacked(self._reader.resolve(ref), _LARGEST_PAGE))
        except TooLarge:
            raise too_complex() from None
        except Unsafe:  # no reader here decodes it
            return 0

    def _drawn(self, page: PageNode) -> list[Ref]:
        contents: Any = None
        if page.shape is not None:
            contents = self._contents_of_shape(page.shape)
            hole = hole_number(contents)
            contents = reference(page.holes[hole]) if hole is not None else None
        value = contents if contents is not None else page.dictionary.get(b"/Contents")
        resolved = self._reader.resolve(value)
        listed = resolved if isinstance(resolved, list) else [value]
        return [item for item in listed if type(item) is Ref]

    def _contents_of_shape(self, shape: PageShape) -> Any:
        if shape not in self._shapes:
            self._shapes[shape] = (shape.dictionary or {}).get(b"/Contents")
        return self._shapes[shape]
