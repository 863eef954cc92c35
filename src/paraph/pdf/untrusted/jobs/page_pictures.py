"""Pictures of pages, on the screen and in print (ISO 32000-2, 8.11, 12.5), and files as one PDF with marks over pages.

PDFium decides itself which layers of page contents show, but ignores the /OC of annotations, and prints form fields as
on the screen, whatever their flags. So annotations get flags with the same effect. That changes the document in memory
for good.
"""

import ctypes
import io
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

import pikepdf
import pypdfium2
from PIL import Image
from pypdfium2 import raw

from paraph.pdf.refusal import too_complex
from paraph.pdf.structure.pages import PageGeometry
from paraph.pdf.untrusted.jobs.untrusted_file import (
    UntrustedFile,
    dictionary,
    drawing,
    geometry_of_page,
    name_of,
    require_page,
)
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

LAYER_NAMES = re.compile(rb"/(?:OCProperties|OCGs?|OCMD|OC|Usage)\b")
"""Matches, in a dictionary as qpdf writes it, whatever makes a viewer leave something out."""
_DEEPEST = 32  # nesting depth of a visibility expression
INVISIBLE = 1
HIDDEN = 1 << 1
PRINT = 1 << 2
NO_VIEW = 1 << 5
_TOGGLE_NO_VIEW = 1 << 8
_MOST = (1 << 31) - 1
_STAMP = (ctypes.c_ushort * 6)(*b"Stamp\0")


def is_layer_printed(membership: Any, document: pikepdf.Pdf) -> bool:
    """Return whether the group or membership dictionary of an /OC shows in print. A malformed one does."""
    if not isinstance(membership, pikepdf.Dictionary):
        return True
    configuration = dictionary(dictionary(document.Root.get("/OCProperties")).get("/D"))
    if membership.get("/Type") != "/OCMD":
        return _group_is_printed(membership, configuration)
    expression = membership.get("/VE")
    if isinstance(expression, pikepdf.Array):
        return _holds(expression, configuration, _DEEPEST)
    named = membership.get("/OCGs")
    groups = list(named) if isinstance(named, pikepdf.Array) else [named]
    states = [_group_is_printed(group, configuration) for group in groups if isinstance(group, pikepdf.Dictionary)]
    policy = name_of(membership.get("/P"))
    answers = {"/AllOn": all(states), "/AnyOff": not all(states), "/AllOff": not any(states)}
    return answers.get(policy, any(states)) if states else True


def _group_is_printed(group: Any, configuration: Any) -> bool:
    """Decide as PDFium does: by the usage for print, else that for the screen, else the default configuration."""
    usage = dictionary(group.get("/Usage"))
    for event in ("Print", "View"):
        state = dictionary(usage.get(f"/{event}")).get(f"/{event}State")
        if state is not None:
            return bool(state != "/OFF")
    shown = configuration.get("/BaseState") != "/OFF" or _among(group, configuration.get("/ON"))
    return bool(shown) and not _among(group, configuration.get("/OFF"))


def _holds(expression: Any, configuration: Any, depth: int) -> bool:
    """Evaluate a visibility expression: an operator and its operands, which are groups or expressions."""
    if isinstance(expression, pikepdf.Dictionary):
        return _group_is_printed(expression, configuration)
    if not isinstance(expression, pikepdf.Array) or not len(expression) or not depth:
        return True
    operator, *operands = expression
    states = [_holds(operand, configuration, depth - 1) for operand in operands]
    if operator == "/Not":
        return not all(states)
    return any(states) if operator == "/Or" else all(states)


def _among(group: Any, groups: Any) -> bool:
    listed: Any = groups if isinstance(groups, pikepdf.Array) else []
    found = [each for each in listed if isinstance(each, pikepdf.Dictionary)]
    return any(each.is_indirect and each.objgen == group.objgen for each in found)


def _text(item: Any) -> bytes:
    found = item.stream_dict if isinstance(item, pikepdf.Stream) else item
    return found.unparse(resolved=True) if isinstance(found, pikepdf.Dictionary | pikepdf.Array) else b""


class Annotation(NamedTuple):
    """What decides whether an annotation shows. ``draws``: a viewer may draw something for it."""

    subtype: str
    flags: int
    draws: bool

    @property
    def on_screen(self) -> bool:
        return not self.flags & (HIDDEN | NO_VIEW | (INVISIBLE if self.subtype == "/Widget" else 0))

    @property
    def in_print(self) -> bool:
        return is_printed(self.flags)

    @property
    def differs(self) -> bool:
        return self.draws and self.on_screen != self.in_print

    @property
    def switches(self) -> bool:
        """Whether it appears or disappears under the mouse."""
        return self.draws and bool(self.flags & _TOGGLE_NO_VIEW) and not self.flags & HIDDEN


def is_printed(flags: int) -> bool:
    return bool(flags & PRINT) and not flags & HIDDEN


def page_annotations(page: pikepdf.Page) -> Iterator[Annotation]:
    """Yield the annotations of a page in the order of /Annots. Popups open on hover only, and PDFium draws no borders
    of links; flags that readers interpret differently count as 0, so that the page is compared by drawing it."""
    listed = page.obj.get("/Annots")
    for item in listed if isinstance(listed, pikepdf.Array) else []:
        if isinstance(item, pikepdf.Dictionary):
            kind, value, place = name_of(item.get("/Subtype")), item.get("/F"), item.get("/Rect")
            flags = int(value) if isinstance(value, int | Decimal) else 0
            corners = list(place) if isinstance(place, pikepdf.Array) else []
            has_area = len(corners) == 4 and corners[0] != corners[2] and corners[1] != corners[3]
            draws = has_area and kind != "/Popup" and (kind not in ("", "/Link") or "/AP" in item)
            yield Annotation(kind, flags if 0 <= flags <= _MOST else 0, draws)


def show_as_printed(file: UntrustedFile, page: pypdfium2.PdfPage, index: int, *, layered: bool) -> None:
    """Make PDFium show annotations as they print, by their flags. ``layered``: the file mentions optional content."""
    for position, annotation in _annotations(page):
        flags = raw.FPDFAnnot_GetFlags(annotation)
        shown = is_printed(flags) and not (layered and _is_left_out(file, index, position))
        raw.FPDFAnnot_SetFlags(annotation, (flags | PRINT) & ~(INVISIBLE | NO_VIEW) if shown else flags | HIDDEN)


def make_fields_annotations(page: pypdfium2.PdfPage) -> None:
    """Turn form fields into plain annotations: PDFium applies layers to what those draw, but not to what fields do."""
    for _, annotation in _annotations(page):
        if raw.FPDFAnnot_GetSubtype(annotation) == raw.FPDF_ANNOT_WIDGET:
            raw.FPDFAnnot_SetStringValue(annotation, b"Subtype", _STAMP)


def _annotations(page: pypdfium2.PdfPage) -> Iterator[tuple[int, Any]]:
    for position in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, position)
        if annotation:
            yield position, annotation
            raw.FPDFPage_CloseAnnot(annotation)


def _is_left_out(file: UntrustedFile, index: int, position: int) -> bool:
    document = file.pikepdf()
    listed = document.pages[index].obj.get("/Annots")
    annotation = listed[position] if isinstance(listed, pikepdf.Array) and position < len(listed) else None
    if not isinstance(annotation, pikepdf.Dictionary):
        return False
    appearances = annotation.get("/AP")
    appearance = appearances.get("/N") if isinstance(appearances, pikepdf.Dictionary) else None
    layers = [annotation.get("/OC"), appearance.get("/OC") if isinstance(appearance, pikepdf.Stream) else None]
    return not all(is_layer_printed(layer, document) for layer in layers)


def show_form_fields(document: pypdfium2.PdfDocument) -> None:
    """Make PDFium draw all form fields, as browsers do: even unlisted ones, and in a document without a form. Must
    be called before the first page is opened."""
    if document.formenv is None:
        config = raw.FPDF_FORMFILLINFO(version=2)
        handle = raw.FPDFDOC_InitFormFillEnvironment(document, config)
        if not handle:
            raise pypdfium2.PdfiumError("the form fields of the document cannot be shown")
        document.formenv = pypdfium2.PdfFormEnv(handle, config)


_MOST_PIXELS = 16_000_000  # an A4 page at 5 pixels per point; larger pictures are scaled down
_LONGEST_SIDE = 16_383  # the limit of WebP
_PHOTO_COLOURS = 1_000  # more colours than anti-aliased text has
_SAMPLE = 160  # pixels per side sampled to tell photos from text
PARTS = 4  # of each side of a page that is drawn in parts


def render(
    file: UntrustedFile, page_number: int, scale: float, form: str, *, printed: bool = False, part: int = 0
) -> JobAnswer:
    """Return ``{"width", "height"}`` in pixels and the picture as ``form`` (``webp`` or ``png``). ``printed``: show
    the page as it prints, not as on the screen. ``part``: one of the 16 of the page, counted from 1 in lines from the
    top left; together they may have four times as many pixels as one picture of the page."""
    document = file.pdfium()
    show_form_fields(document)
    require_page(document, page_number)
    with drawing(page_number):
        page = document[page_number - 1]
        unit = geometry_of_page(file, page, page_number - 1).unit
        options = _as_printed(file, page, page_number - 1) if printed else {}
        width, height = page.get_size()
        if part:
            options["crop"] = _crop(width, height, part)
            width, height = width / 2, height / 2
        picture = page.render(scale=_bounded(width, height, scale * unit), rev_byteorder=True, **options).to_pil()
    return {"width": picture.width, "height": picture.height}, _encoded(picture, form)


def _as_printed(file: UntrustedFile, page: pypdfium2.PdfPage, index: int) -> dict[str, Any]:
    layered = any(LAYER_NAMES.search(_text(item)) for item in file.pikepdf().objects)
    if layered:
        make_fields_annotations(page)
    show_as_printed(file, page, index, layered=layered)
    return {"optimize_mode": "print", "may_draw_forms": not layered}


def _crop(width: float, height: float, part: int) -> tuple[float, float, float, float]:
    """Return how much to leave out around a part: left, bottom, right, top."""
    row, column = divmod(part - 1, PARTS)
    width, height = width / PARTS, height / PARTS
    return column * width, (PARTS - 1 - row) * height, (PARTS - 1 - column) * width, row * height


def _bounded(width: float, height: float, scale: float) -> float:
    by_area = math.sqrt(_MOST_PIXELS / max(width * height, 1.0))
    return min(scale, by_area, (_LONGEST_SIDE - 1) / max(width, height, 1.0))


def _encoded(picture: Image.Image, form: str) -> bytes:
    file = io.BytesIO()
    if form == "png":
        picture.save(file, "PNG", compress_level=1)
    else:
        sample = picture.resize((_SAMPLE, _SAMPLE), Image.Resampling.NEAREST)
        is_photo = sample.getcolors(_PHOTO_COLOURS) is None
        picture.save(file, "WEBP", **({"quality": 80} if is_photo else {"lossless": True}), method=4)
    return file.getvalue()


def preview(*files: UntrustedFile, places: list[list[int]]) -> JobAnswer:
    """Return the pages of all files but the last, one after the other. ``places``: for each page of each file the page
    of the last file that lies over it, counted from 0."""
    *documents, overlay = files
    content = io.BytesIO()
    with pikepdf.new() as made:
        try:
            forms = [made.copy_foreign(page.as_form_xobject()) for page in overlay.pikepdf().pages]
            for file, over in zip(documents, places, strict=True):
                read, before = file.pdfium(), len(made.pages)
                made.pages.extend(file.pikepdf().pages)
                for index, form in enumerate(over):
                    page, geometry = made.pages[before + index].obj, geometry_of_page(file, read[index], index)
                    shown = [*page.get("/Annots", []), made.make_indirect(_mark(made, forms[form], geometry))]
                    page.Annots = made.make_indirect(pikepdf.Array(shown))
            made.save(content)
        except (pikepdf.PikepdfError, ValueError, RuntimeError, TypeError) as error:
            raise too_complex() from error
    return {}, content.getvalue()


def _mark(made: pikepdf.Pdf, form: Any, geometry: PageGeometry) -> pikepdf.Dictionary:
    """Return a stamp annotation over the whole page, since the contents of the page may end in any state."""
    turn = pikepdf.Array([*geometry.to_user[:4], 0, 0])
    look = {"/N": made.make_stream(form.read_bytes(), {**form.stream_dict, "/Matrix": turn})}
    kind = {"/Type": pikepdf.Name.Annot, "/Subtype": pikepdf.Name.Stamp}
    return pikepdf.Dictionary({**kind, "/Rect": pikepdf.Array(geometry.visible), "/F": PRINT, "/AP": look})
