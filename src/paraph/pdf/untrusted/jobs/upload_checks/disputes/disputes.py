"""The places of a file that readers draw differently: told where they are, refused where they lie over text."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import pypdfium2

from paraph.pdf.refusal import Facts, PdfRefused, page_not_shown
from paraph.pdf.structure.geometry import Box, PageGeometry, transform_box
from paraph.pdf.structure.objects import Dictionary, Ref
from paraph.pdf.structure.pages import PageNode
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.untrusted.jobs.names import NAMES_OF_ANNOTATIONS
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.jobs.upload_checks.disputes.annotation_looks import Settings, border_of_link, is_disputed
from paraph.pdf.untrusted.jobs.upload_checks.disputes.annotation_values import AnnotationValues
from paraph.pdf.untrusted.jobs.upload_checks.disputes.dispute import Dispute
from paraph.pdf.untrusted.jobs.upload_checks.disputes.lost_drawings import lost_drawings
from paraph.pdf.untrusted.jobs.upload_checks.disputes.shown_page import ShownPage

_COVERED = 0.2  # of a letter: enough to make another one of it
_TOUCHED = 0.05
_THIN = 2.0  # points: a border that is no more than a line, and pictures bear
_MOST_OF_A_PAGE = 20  # places; more are told as one
_MOST = 2000


def find_disputes(
    reader: PdfReader, file: UntrustedFile, nodes: Sequence[PageNode], geometries: Sequence[PageGeometry]
) -> list[dict[str, Any]]:
    """Return ``[{"page_number", "x", "y", "width", "height", "what"}, …]``, in points of reader space. ``reader`` and
    ``file``: of the file that is shown and sealed. Raises PdfRefused ``…_over_text`` for one that lies over
    text."""
    found = list(
        chain(_of_annotations(reader, file, nodes, geometries), lost_drawings(reader, file, nodes, geometries))
    )
    told: list[dict[str, Any]] = []
    limit = _MOST_OF_A_PAGE if len(found) <= _MOST else 1
    for index in sorted({each.page for each in found}):
        told += _told([each for each in found if each.page == index], geometries[index], limit)
    return told


def _of_annotations(
    reader: PdfReader, file: UntrustedFile, nodes: Sequence[PageNode], geometries: Sequence[PageGeometry]
) -> Iterator[Dispute]:
    settings = _settings(reader)
    for index, node in enumerate(nodes):
        annotations = list(_annotations(reader, node))
        if not annotations:
            continue
        turned = geometries[index].rotate != 0
        disputed = [each for each in annotations if is_disputed(each, settings, turned=turned)]
        borders = [(each, strips) for each in annotations if (strips := border_of_link(each))]
        if disputed or borders:
            yield from _judged(file.pdfium(), index, geometries[index], disputed, borders)


def _judged(
    document: pypdfium2.PdfDocument,
    index: int,
    geometry: PageGeometry,
    disputed: list[AnnotationValues],
    borders: list[tuple[AnnotationValues, list[Box]]],
) -> Iterator[Dispute]:
    """Yield what is told of a page. Raises PdfRefused."""
    try:
        with ShownPage(document, index, geometry) as page:
            for annotation in disputed:
                kind = annotation.name(b"/Subtype")
                what = "form_field" if kind == b"/Widget" else "annotation"
                area = annotation.area
                if area is None or not _on_page(area, geometry):
                    continue
                is_icon = kind == b"/Text"  # PDFium shows one as well, of another look
                if not is_icon and (page.covered_letter(area) >= _COVERED or page.has_picture_in(area)):
                    raise _refused(index, what, kind)
                yield Dispute(index, what, area)
            for annotation, strips in borders:
                if found := _border(page, index, annotation, strips):
                    yield found
    except (pypdfium2.PdfiumError, ValueError) as error:
        raise page_not_shown(index + 1) from error


def _border(page: ShownPage, index: int, annotation: AnnotationValues, strips: list[Box]) -> Dispute | None:
    """Return a border that touches something; one that covers nothing is as harmless as it is frequent."""
    covered = max(map(page.covered_letter, strips))
    thick = min(strips[0][3] - strips[0][1], strips[2][2] - strips[2][0]) > _THIN
    pictured = any(map(page.has_picture_in, strips))
    if covered >= _COVERED or (thick and pictured):
        raise _refused(index, "link_border", b"/Link")
    area = annotation.area
    return Dispute(index, "link_border", area) if area and (covered >= _TOUCHED or pictured) else None


def _annotations(reader: PdfReader, node: PageNode) -> Iterator[AnnotationValues]:
    listed = reader.resolve(node.dictionary.get(b"/Annots"))
    for item in listed if isinstance(listed, list) else []:
        entries = reader.resolve(item)
        if isinstance(entries, dict):
            yield AnnotationValues(reader, entries)


def _settings(reader: PdfReader) -> Settings:
    root: Dictionary = reader.dictionary(reader.trailer.get(b"/Root"))
    form = reader.resolve(root.get(b"/AcroForm"))
    form = form if isinstance(form, dict) else {}
    return Settings(
        drawn_anew=reader.resolve(form.get(b"/NeedAppearances")) == b"true",
        default=reader.resolve(form.get(b"/DA")) is not None,
        layers_off=_layers_off(reader, root),
    )


def _layers_off(reader: PdfReader, root: Dictionary) -> frozenset[Ref] | None:
    """Return the layers that are not shown when the file is opened; ``None`` where others are told instead."""
    properties = reader.resolve(root.get(b"/OCProperties"))
    usual = reader.resolve(properties.get(b"/D")) if isinstance(properties, dict) else None
    if not isinstance(usual, dict) or reader.resolve(usual.get(b"/BaseState")) not in (None, b"/ON"):
        return None
    off = reader.resolve(usual.get(b"/OFF"))
    return frozenset(each for each in (off if isinstance(off, list) else []) if type(each) is Ref)


def _on_page(area: Box, geometry: PageGeometry) -> bool:
    left, bottom, right, top = geometry.visible
    return area[0] < right and left < area[2] and area[1] < top and bottom < area[3]


def _kind(subtype: bytes) -> str:
    return name if (name := subtype[1:].decode("latin-1")) in NAMES_OF_ANNOTATIONS else ""


def _refused(index: int, what: str, subtype: bytes) -> PdfRefused:
    kind = _kind(subtype)
    facts: Facts = {"page": index + 1, "type": kind or "?"}
    things = {"link_border": "the border of a link", "form_field": "a form field"}
    thing = things.get(what, f"an annotation ({facts['type']})")
    message = (
        f"On page {index + 1} {thing} lies over text, and readers draw it differently, so the PDF cannot be signed. "
        "Remove it, or print the PDF to a new one."
    )
    return PdfRefused(f"{what}_over_text", message, facts)


def _told(found: list[Dispute], geometry: PageGeometry, limit: int) -> list[dict[str, Any]]:
    if len(found) > limit:
        lefts, bottoms, rights, tops = zip(*(each.area for each in found), strict=True)
        found = [found[0]._replace(area=(min(lefts), min(bottoms), max(rights), max(tops)))]
    return [_place(each, geometry) for each in found]


def _place(found: Dispute, geometry: PageGeometry) -> dict[str, Any]:
    """Return the part of the place that the page shows."""
    left, bottom, right, top = transform_box(geometry.to_reader, found.area)
    left, bottom = max(left, 0.0), max(bottom, 0.0)
    right, top = min(right, geometry.width), min(top, geometry.height)
    box = {"x": left, "y": bottom, "width": max(right - left, 0.0), "height": max(top - bottom, 0.0)}
    return {"page_number": found.page + 1, **{key: round(value, 2) for key, value in box.items()}, "what": found.what}
