"""The places of a file that readers draw differently: told where they are, refused where they lie over text."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import pypdfium2
from PIL import Image
from pypdfium2 import raw

from paraph.pdf.refusal import Facts, PdfRefused, page_not_shown
from paraph.pdf.structure.objects import Dictionary, Ref
from paraph.pdf.structure.pages import Box, PageGeometry, PageNode, inverse, transform_box
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.untrusted.jobs.names import NAMES_OF_ANNOTATIONS
from paraph.pdf.untrusted.jobs.page_text.characters import Characters
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.jobs.upload_checks.disputes.annotation_looks import (
    AnnotationValues,
    Settings,
    border_of_link,
    is_disputed,
)
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.plain_form import PlainForm

COVERED = 0.2  # of a letter: enough to make another one of it
_TOUCHED = 0.05
_THIN = 2.0  # points: a border that is no more than a line, and pictures bear
_MOST_OF_A_PAGE = 20  # places; more are told as one
_MOST = 2000
_PIXELS = 1600  # of the longer side of the picture in which things are looked for
_FAINT = 24  # of 255: noise of a scan, and of compression
_MOST_OBJECTS = 20_000  # of a page, among which pictures are looked for


class Dispute(NamedTuple):
    """In user space; ``page`` counts from 0. ``what``: ``link_border``, ``annotation``, ``form_field``, ``lost`` for
    drawings of the page that other readers leave out or draw otherwise, or ``contents`` for what a second renderer
    does."""

    page: int
    what: str
    area: Box


class ShownPage:
    """A page of a document that PDFium has opened. A context manager."""

    def __init__(self, document: pypdfium2.PdfDocument, index: int, geometry: PageGeometry) -> None:
        self._page = document[index]
        self._geometry = geometry

    def __enter__(self) -> "ShownPage":
        return self

    def __exit__(self, *error: object) -> None:
        self._page.close()

    def covered_letter(self, area: Box) -> float:
        """Return how much of a letter lies within ``area``, the most covered one: 0 to 1."""
        return max((_share(letter, area) for letter in self._letters), default=0.0)

    def has_picture_in(self, area: Box) -> bool:
        """Return whether there is anything to see within ``area`` that may be text and has no letters: in an image, or
        on a page without letters anything at all."""
        if self._letters and not any(_share(image, area) or _share(area, image) for image in self._images):
            return False
        return self._varies(area)

    @cached_property
    def _letters(self) -> list[Box]:
        with Characters(self._page) as characters:
            read = enumerate(characters.exact())
            boxes = [characters.box(index) for index, character in read if character and not character.isspace()]
        return [box for box in boxes if box]

    @cached_property
    def _images(self) -> list[Box]:
        return list(self._bounds_of_images())

    def _bounds_of_images(self) -> Iterator[Box]:
        kinds = [raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING]
        for count, drawn in enumerate(self._page.get_objects(filter=kinds, max_depth=15)):
            if count >= _MOST_OBJECTS:
                yield self._geometry.visible
                return
            try:
                yield drawn.get_bounds()
            except pypdfium2.PdfiumError:
                yield self._geometry.visible

    def _varies(self, area: Box) -> bool:
        box = self._in_pixels(area)
        low, high = self._picture.crop(box).getextrema() if box else (0, 0)
        return bool(high - low > _FAINT)  # type: ignore[operator]  # of one band

    @cached_property
    def _picture(self) -> Image.Image:
        """Without annotations."""
        scale = _PIXELS / max(*self._page.get_size(), 1.0)
        bitmap = self._page.render(scale=scale, draw_annots=False, may_draw_forms=False)
        image: Image.Image = bitmap.to_pil().convert("L")
        return image

    def _in_pixels(self, area: Box) -> tuple[int, int, int, int] | None:
        width, height = self._picture.size
        left, bottom, right, top = transform_box(inverse(self._geometry.to_user), area)
        across, down = width / self._geometry.width, height / self._geometry.height
        box = (
            max(int(left * across), 0),
            max(int((self._geometry.height - top) * down), 0),
            min(int(right * across) + 1, width),
            min(int((self._geometry.height - bottom) * down) + 1, height),
        )
        return box if box[0] < box[2] and box[1] < box[3] else None


def _share(one: Box, other: Box) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    area = (one[2] - one[0]) * (one[3] - one[1])
    return width * height / area if width > 0 and height > 0 and area > 0 else 0.0


def find_disputes(
    reader: PdfReader,
    file: UntrustedFile,
    nodes: Sequence[PageNode],
    geometries: Sequence[PageGeometry],
    plain: PlainForm,
) -> list[dict[str, Any]]:
    """Return ``[{"page_number", "x", "y", "width", "height", "what"}, …]``, in points of reader space. ``reader`` and
    ``file``: of the file that is shown and sealed, ``plain``: what is known of it. Raise PdfRefused ``…_over_text``
    for one that lies over text."""
    found = list(_of_annotations(reader, file, nodes, geometries))
    found += [Dispute(index, "lost", geometries[index].visible) for index in plain.drawn_differently]
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
    """Yield what is told of a page. Raise PdfRefused."""
    try:
        with ShownPage(document, index, geometry) as page:
            for annotation in disputed:
                kind = annotation.name(b"/Subtype")
                what = "form_field" if kind == b"/Widget" else "annotation"
                area = annotation.area
                if area is None or not _on_page(area, geometry):
                    continue
                is_icon = kind == b"/Text"  # PDFium shows one as well, of another look
                if not is_icon and (page.covered_letter(area) >= COVERED or page.has_picture_in(area)):
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
    if covered >= COVERED or (thick and pictured):
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
    return [place_of(each, geometry) for each in found]


def place_of(found: Dispute, geometry: PageGeometry) -> dict[str, Any]:
    left, bottom, right, top = transform_box(geometry.to_reader, found.area)
    left, bottom = max(left, 0.0), max(bottom, 0.0)
    right, top = min(right, geometry.width), min(top, geometry.height)
    box = {"x": left, "y": bottom, "width": max(right - left, 0.0), "height": max(top - bottom, 0.0)}
    return {"page_number": found.page + 1, **{key: round(value, 2) for key, value in box.items()}, "what": found.what}
