"""Where a second renderer draws pages otherwise than PDFium, which draws them for signers."""

import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, BinaryIO

from paraph.pdf.untrusted import second_renderer
from paraph.pdf.untrusted.sandbox import sandbox

_MOST_PAGES = 24  # pages that are compared; a place is told of each further one, as it is of those that took too long


def second_look(
    pdf: bytes | BinaryIO, pages: Sequence[int], sizes: Sequence[tuple[float, float]], tenant_key: str
) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the places of some ``pages`` that the two renderers draw differently by a word or more, as they stand in
    ``drawn_differently``, and the numbers of the pages where one of them has text. The whole page where it cannot be
    compared. ``pages`` count from 1 and ascend; ``sizes``: of all pages. Raise PdfRefused or ReadersUnavailable."""
    places: list[dict[str, Any]] = []
    over_text: set[int] = set()
    compared: set[int] = set()
    for first, last in _runs(pages[:_MOST_PAGES]):
        found, count = _compared(pdf, first, last, tenant_key)
        compared |= set(range(first, first + count))
        for place, has_text in found:
            places.append(place)
            if has_text:
                over_text.add(place["page_number"])
    places += [_whole(page, *sizes[page - 1]) for page in pages if page not in compared]
    return places, sorted(over_text)


def _compared(
    pdf: bytes | BinaryIO, first: int, last: int, tenant_key: str
) -> tuple[list[tuple[dict[str, Any], bool]], int]:
    with tempfile.TemporaryFile() as pictures:
        second_renderer.draw(pdf, first, last, pictures)
        if not pictures.seek(0, 2):
            return [], 0
        result, _ = sandbox().call("compare", [pdf, pictures], tenant_key=tenant_key, first=first)
    return result["places"], result["compared"]


def _runs(pages: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last page of each run of consecutive ones."""
    for _, run in groupby(enumerate(pages), key=lambda place: place[1] - place[0]):
        numbers = [page for _, page in run]
        yield numbers[0], numbers[-1]


def _whole(page: int, width: float, height: float) -> dict[str, Any]:
    return {"page_number": page, "x": 0.0, "y": 0.0, "width": width, "height": height, "what": "contents"}
