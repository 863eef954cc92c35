"""Pictures of pages, and files as one PDF with something over each page."""

import io
import math
from collections.abc import Sequence
from typing import Any

import pikepdf
import pypdfium2
from PIL import Image, WebPImagePlugin  # noqa: F401  else Pillow imports all its plugins

from paraph.pdf.refusal import too_complex
from paraph.pdf.structure.pages import PageGeometry
from paraph.pdf.untrusted.jobs.page_pictures import (
    has_layers,
    make_fields_annotations,
    show_as_printed,
    show_form_fields,
)
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile, drawing, geometry_of_page, require_page
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

_MOST_PIXELS = 16_000_000  # an A4 page at 5 pixels per point; larger pictures are scaled down
_LONGEST_SIDE = 16_383  # the limit of WebP
_PHOTO_COLOURS = 1_000  # more colours than anti-aliased text has
_SAMPLE = 160  # pixels per side sampled to tell photos from text
PARTS = 4  # of each side of a page that is drawn in parts
_PRINT = 4  # flag of an annotation (ISO 32000-2, 12.5.3)


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
    layered = has_layers(file.pikepdf())
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
                _add(made, file, [forms[index] for index in over])
            made.save(content)
        except (pikepdf.PikepdfError, ValueError, RuntimeError, TypeError) as error:
            raise too_complex() from error
    return {}, content.getvalue()


def _add(made: pikepdf.Pdf, file: UntrustedFile, forms: Sequence[Any]) -> None:
    read, before = file.pdfium(), len(made.pages)
    made.pages.extend(file.pikepdf().pages)
    for index, form in enumerate(forms):
        geometry = geometry_of_page(file, read[index], index)
        page = made.pages[before + index]
        shown = list(page.obj.get("/Annots", []))
        page.obj.Annots = made.make_indirect(pikepdf.Array([*shown, made.make_indirect(_mark(made, form, geometry))]))


def _mark(made: pikepdf.Pdf, form: Any, geometry: PageGeometry) -> pikepdf.Dictionary:
    """Return a stamp over all of the page. It is an annotation and no part of the contents, which may end in any
    state."""
    turn = pikepdf.Array([*geometry.to_user[:4], 0, 0])
    shown = made.make_stream(form.read_bytes(), {**form.stream_dict, "/Matrix": turn})
    return pikepdf.Dictionary(
        Type=pikepdf.Name.Annot,
        Subtype=pikepdf.Name.Stamp,
        Rect=pikepdf.Array(geometry.visible),
        F=_PRINT,
        AP=pikepdf.Dictionary(N=shown),
    )
