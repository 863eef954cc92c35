"""Bringing marks and overlay onto the pages of a revision, by the way that keeps what must be kept."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from paraph.pdf.drawing.covering_annotations import covered, overlap
from paraph.pdf.drawing.drawing_check import Placed
from paraph.pdf.drawing.form_xobjects import Forms, open_forms
from paraph.pdf.drawing.marks import Drawing, Drawings, Mark, Overlay
from paraph.pdf.drawing.page_writer import Stamper
from paraph.pdf.drawing.repeated_pages import Alike
from paraph.pdf.errors import SealError
from paraph.pdf.structure.geometry import PageGeometry, transform_box
from paraph.pdf.structure.normalise import Unreadable, normalised
from paraph.pdf.structure.objects import Ref, Unsafe
from paraph.pdf.structure.pages import Page, geometry_of, pages
from paraph.pdf.structure.reader import Reader
from paraph.pdf.structure.revision import Revision
from paraph.pdf.structure.signature_field import Widget
from paraph.pdf.structure.unclosed_layers import may_stay_open


@dataclass
class Drawn:
    """``widgets`` are the places of the seal's field where marks had to go there."""

    placed: list[Placed] = field(default_factory=list)
    widgets: list[Widget] = field(default_factory=list)


def draw(
    revision: Revision, appearances: bytes, marks: Sequence[Mark], overlay: Overlay | None, *, signed: bool
) -> Drawn:
    """Into the contents of the pages. Into appearances of the seal's own field, on top of everything, where the file
    was signed before, where an annotation might hide a mark, and where contents might swallow what follows them.

    Raises :class:`SealError` when a mark names a page or a picture that does not exist.
    """
    drawn = Drawn()
    if not marks and overlay is None:
        return drawn
    used = [mark.appearance for mark in marks] + ([overlay.appearance] if overlay else [])
    forms, stamper = _open(appearances, revision, max(used) + 1), Stamper(revision)
    pictures, alike = Drawings(forms, layers_open=may_stay_open(revision)), Alike(revision, stamper)
    for page, own in _wanted(revision, marks, everywhere=overlay is not None):
        if not own and not signed and (picture := alike.stamp(page)):
            drawn.placed.append(Placed(page.ref, picture, in_annotation=False, background=True))
            continue
        geometry = geometry_of(revision.reader, page)
        picture = pictures.drawing(geometry, own, overlay)
        above = signed or _hidden(revision, page, geometry, own, overlay) or not stamper.can_append(page)
        if above:
            drawn.widgets.append(Widget(page, picture.extent, _appearance(revision, picture), signed))
        else:
            stamper.stamp(page, picture)
            if not own:
                alike.learn(page, picture)
        background = all(mark.background for mark in own)
        drawn.placed.append(Placed(page.ref, picture, in_annotation=above, background=background))
    return drawn


def _wanted(revision: Revision, marks: Sequence[Mark], *, everywhere: bool) -> Iterator[tuple[Page, list[Mark]]]:
    """The pages to draw on, with their marks; reads no further than the last of them."""
    by_page: dict[int, list[Mark]] = defaultdict(list)
    for mark in marks:
        by_page[mark.page_number].append(mark)
    for number, page in enumerate(pages(revision.reader), start=1):
        own = by_page.pop(number, [])
        if own or everywhere:
            yield page, own
        if not by_page and not everywhere:
            return
    if by_page:
        raise SealError(f"A mark is placed on page {min(by_page)}, which the PDF does not have.")


def _hidden(
    revision: Revision, page: Page, geometry: PageGeometry, marks: Sequence[Mark], overlay: Overlay | None
) -> bool:
    """Whether annotations of the page might cover one of the marks, or the overlay."""
    boxes = covered(revision, page)
    places = [(mark.x, mark.y, mark.x + mark.width, mark.y + mark.height) for mark in marks]
    shown = [transform_box(geometry.to_user, place) for place in places] + ([geometry.visible] if overlay else [])
    return any(overlap(place, box) for place in shown for box in boxes)


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
