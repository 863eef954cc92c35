"""What the contents of pages unpack to, counted as often as pages draw them."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from paraph.pdf.refusal import too_complex
from paraph.pdf.structure.objects import Ref, Stream, Unsafe
from paraph.pdf.structure.page_shapes import Kind, marked, reference
from paraph.pdf.structure.pages import Page
from paraph.pdf.structure.reader import Reader
from paraph.pdf.structure.unpacking import TooLarge, unpacked
from paraph.pdf.untrusted.jobs.upload_checks.expansion import most_unpacked

_LARGEST_PAGE = 64 << 20  # bytes of the contents of one page; 3 MB are many
_LARGEST_REPEATED = 512 << 20  # what pages draw that an earlier one has drawn, or they themselves


def check_contents(reader: Reader, pages: Iterable[Page]) -> None:
    """Raises PdfRefused ``too_complex`` where the contents of a page, or those that pages repeat, unpack to more than a
    document may need. Contents that are drawn once are counted with the file's other streams."""
    check = _Check(reader)
    for page in pages:
        check.add(page)


class _Check:
    """Streams are estimated by their length, and unpacked only where that might be too much."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._sizes: dict[Ref, int] = {}
        self._exact: set[Ref] = set()
        self._again: Counter[Ref] = Counter()
        self._repeated = 0
        self._shapes: dict[Kind, Any] = {}

    def add(self, page: Page) -> None:
        drawn = self._drawn(page)
        for ref in drawn:
            if ref in self._sizes:
                self._again[ref] += 1
                self._repeated += self._sizes[ref]
            else:
                self._sizes[ref] = self._estimate(ref)
        if self._sum(Counter(drawn), _LARGEST_PAGE, sum(map(self._sizes.__getitem__, drawn))) > _LARGEST_PAGE:
            raise too_complex()
        if self._repeated > _LARGEST_REPEATED:
            self._repeated = self._sum(self._again, _LARGEST_REPEATED, self._repeated)
            if self._repeated > _LARGEST_REPEATED:
                raise too_complex()

    def _sum(self, uses: Counter[Ref], limit: int, estimate: int) -> int:
        """Exact where the estimate is beyond the limit."""
        if estimate <= limit:
            return estimate
        for ref in uses:
            if ref not in self._exact:
                self._exact.add(ref)
                self._sizes[ref] = self._exactly(ref)
        return sum(self._sizes[ref] * count for ref, count in uses.items())

    def _estimate(self, ref: Ref) -> int:
        stream = self._reader.resolve(ref)
        if not isinstance(stream, Stream):
            return 0
        filters = stream.dictionary.get(b"/Filter")
        return most_unpacked(filters if isinstance(filters, list) else [filters], len(stream.data))

    def _exactly(self, ref: Ref) -> int:
        try:
            return len(unpacked(self._reader.resolve(ref), _LARGEST_PAGE))
        except TooLarge:
            raise too_complex() from None
        except Unsafe:  # nobody here decodes it
            return 0

    def _drawn(self, page: Page) -> list[Ref]:
        contents: Any = None
        if page.kind is not None:
            contents = self._shape(page.kind)
            hole = marked(contents)
            contents = reference(page.holes[hole]) if hole is not None else None
        value = contents if contents is not None else page.dictionary.get(b"/Contents")
        resolved = self._reader.resolve(value)
        listed = resolved if isinstance(resolved, list) else [value]
        return [item for item in listed if type(item) is Ref]

    def _shape(self, kind: Kind) -> Any:
        if kind not in self._shapes:
            self._shapes[kind] = (kind.dictionary or {}).get(b"/Contents")
        return self._shapes[kind]
