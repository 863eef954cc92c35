"""Bringing marks and overlay onto the pages of a revision, by the way that keeps what must be kept."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from paraph.pdf.errors import SealError
from paraph.pdf.field import Widget
from paraph.pdf.forms import Forms, open_forms
from paraph.pdf.marks import Drawing, Mark, Overlay, drawing
from paraph.pdf.normalise import Unreadable, normalised
from paraph.pdf.objects import Ref, Unsafe
from paraph.pdf.pages import geometry_of, pages
from paraph.pdf.reader import Reader
from paraph.pdf.revision import Revision
from paraph.pdf.selfcheck import Expected
from paraph.pdf.stamp import Stamper


@dataclass(frozen=True)
class Drawn:
    """``widgets`` are the places of the seal's field where marks had to go there."""

    expected: Expected
    widgets: list[Widget] = field(default_factory=list)


def draw(
    revision: Revision, appearances: bytes, marks: Sequence[Mark], overlay: Overlay | None, *, signed: bool
) -> Drawn:
    """Into the contents of the pages; in a file signed before, into appearances of the seal's own field.

    Raises :class:`SealError` when a mark names a page or a picture that does not exist.
    """
    if not marks and overlay is None:
        return Drawn(Expected())
    used = [mark.appearance for mark in marks] + ([overlay.appearance] if overlay else [])
    forms = _open(appearances, revision, max(used) + 1)
    by_page: dict[int, list[Mark]] = defaultdict(list)
    for mark in marks:
        by_page[mark.page_number].append(mark)
    stamper = Stamper(revision)
    expected: dict[Ref, Drawing] = {}
    widgets: list[Widget] = []
    for number, page in enumerate(pages(revision.reader), start=1):
        own = by_page.pop(number, [])
        if not own and overlay is None:
            if not by_page:
                break
            continue
        geometry = geometry_of(revision.reader, page)
        picture = drawing(geometry, own, overlay, forms)
        expected[page.ref] = picture
        if signed:
            widgets.append(Widget(page, picture.extent, _appearance(revision, picture)))
        else:
            stamper.stamp(page, picture)
    if by_page:
        raise SealError(f"A mark is placed on page {min(by_page)}, which the PDF does not have.")
    return Drawn(Expected(expected, signed), widgets)


def _open(appearances: bytes, revision: Revision, needed: int) -> Forms:
    try:
        try:
            return open_forms(Reader(appearances), revision, needed)
        except Unsafe:
            return open_forms(Reader(normalised(appearances)), revision, needed)
    except (Unsafe, Unreadable) as error:
        raise SealError("The pictures of the marks cannot be read.") from error


def _appearance(revision: Revision, picture: Drawing) -> Ref:
    resources = {b"/XObject": dict(picture.names)}
    entries = {b"/Type": b"/XObject", b"/Subtype": b"/Form", b"/Resources": resources}
    return revision.stream(picture.operators, {**entries, b"/BBox": [float(edge) for edge in picture.extent]})
