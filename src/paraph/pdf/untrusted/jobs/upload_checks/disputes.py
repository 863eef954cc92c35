"""The places of a file that readers draw differently: they are reported, and refused where they lie over text.

Annotations are judged by what is known of readers, pages by comparison with pictures that a second renderer made.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cached_property, reduce
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import pypdfium2
from PIL import Image, ImageChops, ImageFilter
from pypdfium2 import raw

from paraph.pdf.refusal import Facts, PdfRefused
from paraph.pdf.structure.objects import Dictionary, Ref
from paraph.pdf.structure.pages import Box, PageGeometry, PageNode, around, inverse, transform_box
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.untrusted.jobs.characters import Characters
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile, drawing, geometry_of_page
from paraph.pdf.untrusted.jobs.upload_checks.annotations import AnnotationValues, Settings, border_of_link, is_disputed
from paraph.pdf.untrusted.jobs.upload_checks.plain_form import PlainForm
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

_COVERED = 0.2  # of a letter: enough to make it look like another one
_TOUCHED = 0.05
_THIN = 2.0  # points: a border that is no more than a line, which pictures bear
_MOST_OF_A_PAGE = 20  # places; more are reported as one
_MOST = 2000
_PIXELS = 1600  # of the longer side of the picture in which things are looked for
_FAINT = 24  # of 255: noise of a scan, and of compression
_MOST_OBJECTS = 20_000  # of a page, among which pictures are looked for
_RADII = (10, 4)  # pixels: an area of 25 by 11 points, a short word; renderers agree on how dark one is
_AREA = ImageFilter.BoxBlur(_RADII)
_SHIFT = 3  # pixels by which renderers may differ on the place of a word
_APART = 60  # of 255: a word that only one of them shows is 80 and more, substitutes of fonts are below 45
_LINE_APART = 6  # rows of pixels between two lines of text
_TURNED = 3  # pixels by which the sizes of two pictures of one page may differ
_MOST_PIXELS = 1 << 24
_HEAD = re.compile(rb"P5\n(\d{1,5}) (\d{1,5})\n255\n")
_NAMES = frozenset(
    {
        "Text", "Link", "FreeText", "Line", "Square", "Circle", "Polygon", "PolyLine", "Highlight", "Underline",
        "Squiggly", "StrikeOut", "Stamp", "Caret", "Ink", "Popup", "FileAttachment", "Sound", "Movie", "Widget",
        "Screen", "PrinterMark", "TrapNet", "Watermark", "3D", "Redact", "Projection", "RichMedia",
    }
)  # fmt: skip
"""The kinds of annotations: ISO 32000-2, table 171."""


class Dispute(NamedTuple):
    """A place that readers draw differently, in user space; ``page`` counts from 0. ``what``: ``link_border``,
    ``annotation``, ``form_field``, ``lost`` for drawings of the page that other readers leave out or draw otherwise, or
    ``contents`` for what a second renderer leaves out or draws otherwise."""

    page: int
    what: str
    area: Box


class ShownPage:
    """A page of a document that PDFium has opened."""

    def __init__(self, document: pypdfium2.PdfDocument, index: int, geometry: PageGeometry) -> None:
        self._page = document[index]
        self._geometry = geometry
        self.close = self._page.close

    def shows_text_in(self, area: Box) -> bool:
        """Return whether a letter, or what may be one, lies within ``area``."""
        return self.covered_letter(area) >= _COVERED or self.has_picture_in(area)

    def covered_letter(self, area: Box) -> float:
        """Return how much of the most covered letter lies within ``area``: 0 to 1."""
        return max((_share(letter, area) for letter in self._letters), default=0.0)

    def has_picture_in(self, area: Box) -> bool:
        """Return whether there is anything to see within ``area`` that may be text and has no letters: in an image, or
        on a page without letters anything at all."""
        if self._letters and not any(_share(image, area) or _share(area, image) for image in self._images):
            return False
        box = self._in_pixels(area)
        low, high = self._picture.crop(box).getextrema() if box else (0, 0)
        return bool(high - low > _FAINT)  # type: ignore[operator]  # of one band

    @cached_property
    def _letters(self) -> list[Box]:
        with Characters(self._page) as characters:
            read = enumerate(characters.exact())
            boxes = [characters.box(index) for index, character in read if character and not character.isspace()]
        return [box for box in boxes if box]

    @cached_property
    def _images(self) -> list[Box]:
        kinds, found = [raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING], list[Box]()
        for drawn in self._page.get_objects(filter=kinds, max_depth=15):
            if len(found) >= _MOST_OBJECTS:
                return [self._geometry.visible]
            try:
                found.append(drawn.get_bounds())
            except pypdfium2.PdfiumError:
                found.append(self._geometry.visible)
        return found

    @cached_property
    def _picture(self) -> Image.Image:
        """The page without annotations."""
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
    found, settings = list[Dispute](), _settings(reader)
    for index, node in enumerate(nodes):
        listed = reader.resolve(node.dictionary.get(b"/Annots")) or []
        annotations = [AnnotationValues(reader.resolve, reader.resolve(each)) for each in listed]
        turned = geometries[index].rotate != 0
        disputed = [each for each in annotations if is_disputed(each, settings, turned=turned)]
        borders = [(each, strips) for each in annotations if (strips := border_of_link(each))]
        if disputed or borders:
            found += _of_annotations(file.pdfium(), index, geometries[index], disputed, borders)
    found += [Dispute(index, "lost", geometries[index].visible) for index in plain.drawn_differently]
    limit = _MOST_OF_A_PAGE if len(found) <= _MOST else 1
    told: list[dict[str, Any]] = []
    for index, each in groupby(sorted(found, key=attrgetter("page")), attrgetter("page")):
        of_page = list(each)
        if len(of_page) > limit:
            of_page = [of_page[0]._replace(area=around([one.area for one in of_page]))]
        told += [_place(one, geometries[index]) for one in of_page]
    return told


def _of_annotations(
    document: pypdfium2.PdfDocument,
    index: int,
    geometry: PageGeometry,
    disputed: list[AnnotationValues],
    borders: list[tuple[AnnotationValues, list[Box]]],
) -> Iterator[Dispute]:
    """Yield the disputes about the annotations of a page. Raise PdfRefused for one over text."""
    with drawing(index + 1), closing(ShownPage(document, index, geometry)) as page:
        for annotation in disputed:
            kind, area = annotation.subtype, annotation.area
            if area is None or not _on_page(area, geometry):
                continue
            what = "form_field" if kind == b"/Widget" else "annotation"
            is_icon = kind == b"/Text"  # PDFium shows an icon as well, with another look
            if not is_icon and page.shows_text_in(area):
                raise _refused(index, what, kind)
            yield Dispute(index, what, area)
        for annotation, strips in borders:
            if found := _border(page, index, annotation, strips):
                yield found


def _border(page: ShownPage, index: int, annotation: AnnotationValues, strips: list[Box]) -> Dispute | None:
    """Return a border that touches something; ``None`` for others, which are as harmless as they are frequent."""
    covered = max(map(page.covered_letter, strips))
    thick = min(strips[0][3] - strips[0][1], strips[2][2] - strips[2][0]) > _THIN
    pictured = any(map(page.has_picture_in, strips))
    if covered >= _COVERED or (thick and pictured):
        raise _refused(index, "link_border", b"/Link")
    area = annotation.area
    return Dispute(index, "link_border", area) if area and (covered >= _TOUCHED or pictured) else None


def _settings(reader: PdfReader) -> Settings:
    root: Dictionary = reader.dictionary(reader.trailer.get(b"/Root"))
    form = reader.resolve(root.get(b"/AcroForm")) or {}
    return Settings(
        drawn_anew=reader.resolve(form.get(b"/NeedAppearances")) == b"true",
        default=reader.resolve(form.get(b"/DA")) is not None,
        layers_off=_layers_off(reader, root),
    )


def _layers_off(reader: PdfReader, root: Dictionary) -> frozenset[Ref] | None:
    """Return the layers that are not shown when the file is opened; ``None`` where the file does not list them."""
    properties = reader.resolve(root.get(b"/OCProperties"))
    usual = reader.resolve(properties.get(b"/D")) if isinstance(properties, dict) else None
    if not isinstance(usual, dict) or reader.resolve(usual.get(b"/BaseState")) not in (None, b"/ON"):
        return None
    off = reader.resolve(usual.get(b"/OFF"))
    return frozenset(each for each in (off if isinstance(off, list) else []) if type(each) is Ref)


def _on_page(area: Box, geometry: PageGeometry) -> bool:
    left, bottom, right, top = geometry.visible
    return area[0] < right and left < area[2] and area[1] < top and bottom < area[3]


def _refused(index: int, what: str, subtype: bytes) -> PdfRefused:
    kind = subtype[1:].decode("latin-1")
    facts: Facts = {"page": index + 1, "type": kind if kind in _NAMES else "?"}
    things = {"link_border": "the border of a link", "form_field": "a form field"}
    thing = things.get(what, f"an annotation ({facts['type']})")
    message = (
        f"On page {index + 1} {thing} lies over text, and readers draw it differently, so the PDF cannot be signed."
    )
    return PdfRefused(f"{what}_over_text", f"{message} Remove it, or print the PDF to a new one.", facts)


def _place(found: Dispute, geometry: PageGeometry) -> dict[str, Any]:
    left, bottom, right, top = transform_box(geometry.to_reader, found.area)
    left, bottom = max(left, 0.0), max(bottom, 0.0)
    right, top = min(right, geometry.width), min(top, geometry.height)
    box = {"x": left, "y": bottom, "width": max(right - left, 0.0), "height": max(top - bottom, 0.0)}
    return {"page_number": found.page + 1, **{key: round(value, 2) for key, value in box.items()}, "what": found.what}


def compare(file: UntrustedFile, pictures: UntrustedFile, first: int, resolution: int) -> JobAnswer:
    """Return ``{"places": [[{"page_number", "x", "y", "width", "height", "what"}, over text], …], "compared": count}``:
    the lines of each page that the renderers draw differently by a word or more, in points of reader space, and whether
    there is text in them. ``pictures``: PGM of pages from ``first`` on, counted from 1, at ``resolution``;
    ``compared``: the number of pages with a whole picture."""
    document, count = file.pdfium(), 0
    places: list[tuple[dict[str, Any], bool]] = []
    for count, theirs in enumerate(_pictures(pictures.whole), start=1):
        places += _different(file, document, first + count - 2, theirs, resolution / 72)
    return {"places": places, "compared": count}, b""


def _pictures(content: bytes) -> Iterator[Image.Image]:
    """Yield each whole picture; only PGM without comments is read."""
    position = 0
    while head := _HEAD.match(content, position):
        width, height = int(head[1]), int(head[2])
        position = head.end() + width * height
        if width * height > _MOST_PIXELS or position > len(content):
            return
        yield Image.frombytes("L", (width, height), content[head.end() : position])


def _different(
    file: UntrustedFile, document: pypdfium2.PdfDocument, index: int, theirs: Image.Image, scale: float
) -> Iterator[tuple[dict[str, Any], bool]]:
    with drawing(index + 1):
        page = document[index]
        geometry = geometry_of_page(file, page, index)
        ours = page.render(scale=scale, draw_annots=False, may_draw_forms=False).to_pil().convert("L")
        page.close()
        with closing(ShownPage(document, index, geometry)) as shown:
            for left, top, right, bottom in _boxes(ours, theirs):
                box = (left / scale, geometry.height - bottom / scale, right / scale, geometry.height - top / scale)
                area = transform_box(geometry.to_user, box)
                yield _place(Dispute(index, "contents", area), geometry), shown.shows_text_in(area)


def _boxes(ours: Image.Image, theirs: Image.Image) -> Iterator[tuple[int, int, int, int]]:
    """Yield the boxes, in pixels, of lines in which one picture is darker by a word; the whole page if sizes differ."""
    if abs(ours.width - theirs.width) > _TURNED or abs(ours.height - theirs.height) > _TURNED:
        yield 0, 0, *ours.size
        return
    size = min(ours.width, theirs.width), min(ours.height, theirs.height)
    one, other = (picture.crop((0, 0, *size)).filter(_AREA) for picture in (ours, theirs))
    different = ImageChops.lighter(_beyond(one, other), _beyond(other, one)).point(lambda value: 255 * (value > _APART))
    for first, last in _rows(different):
        if line := different.crop((0, first, different.width, last)).getbbox():
            yield line[0] - _RADII[0], first - _RADII[1], line[2] + _RADII[0], last + _RADII[1]


def _rows(different: Image.Image) -> list[list[int]]:
    """Return the first row of each line, and the one after its last."""
    found: list[list[int]] = []
    for row in (row for row in range(different.height) if different.crop((0, row, different.width, row + 1)).getbbox()):
        if found and row - found[-1][1] <= _LINE_APART:
            found[-1][1] = row + 1
        else:
            found.append([row, row + 1])
    return found


def _beyond(one: Image.Image, other: Image.Image) -> Image.Image:
    """Return by how much each area of ``one`` is darker or lighter than every area of ``other`` next to it."""
    lighter = ImageChops.subtract(one, _around(other, ImageChops.lighter))
    return ImageChops.lighter(lighter, ImageChops.subtract(_around(other, ImageChops.darker), one))


def _around(picture: Image.Image, choose: Callable[[Image.Image, Image.Image], Image.Image]) -> Image.Image:
    for across, down in ((1, 0), (0, 1)):
        moved = (ImageChops.offset(picture, step * across, step * down) for step in range(-_SHIFT, _SHIFT + 1))
        picture = reduce(choose, list(moved))
    return picture
