"""Pictures of pages, inside the sandbox."""

import io
import math
from typing import Any

import pypdfium2
from PIL import Image, WebPImagePlugin  # noqa: F401  which Pillow else looks for among all its plugins

from paraph.pdf.refusal import no_such_page, page_not_shown
from paraph.pdf.untrusted.jobs.page_geometry import geometry_of
from paraph.pdf.untrusted.jobs.page_pictures.form_fields import show_form_fields
from paraph.pdf.untrusted.jobs.page_pictures.layer_visibility import has_layers
from paraph.pdf.untrusted.jobs.page_pictures.print_view import make_fields_annotations, show_as_printed
from paraph.pdf.untrusted.jobs.untrusted_file import Source

_MOST_PIXELS = 16_000_000  # of a picture: an A4 page at 5 pixels a point; larger ones are drawn smaller
_LONGEST_SIDE = 16_383  # what WebP can hold
_PHOTO_COLOURS = 1_000  # more colours than anti-aliased text has
_SAMPLE = 160  # pixels a side that are looked at to tell photos from text


def render(
    source: Source, page_number: int, scale: float, form: str, *, printed: bool = False
) -> tuple[dict[str, Any], bytes]:
    """``{"width", "height"}`` in pixels and the picture as ``form`` (``webp`` or ``png``). ``printed``: the page as it
    is printed, else as it is on the screen."""
    document = source.pdfium()
    show_form_fields(document)
    if not 1 <= page_number <= len(document):
        raise no_such_page(page_number, len(document))
    try:
        page = document[page_number - 1]
        unit = geometry_of(source, page, page_number - 1).unit
        options = _as_printed(source, page, page_number - 1) if printed else {}
        picture = page.render(scale=_bounded(page.get_size(), scale * unit), rev_byteorder=True, **options).to_pil()
    except (pypdfium2.PdfiumError, ValueError) as error:
        raise page_not_shown(page_number) from error
    return {"width": picture.width, "height": picture.height}, _encoded(picture, form)


def _as_printed(source: Source, page: pypdfium2.PdfPage, index: int) -> dict[str, Any]:
    """Makes the page as it is in print; returns how it is to be drawn then."""
    layered = has_layers(source.pikepdf())
    if layered:
        make_fields_annotations(page)
    show_as_printed(source, page, index, layered=layered)
    return {"optimize_mode": "print", "may_draw_forms": not layered}


def _bounded(size: tuple[float, float], scale: float) -> float:
    width, height = size
    by_area = math.sqrt(_MOST_PIXELS / max(width * height, 1.0))
    return min(scale, by_area, (_LONGEST_SIDE - 1) / max(width, height, 1.0))


def _encoded(picture: Image.Image, form: str) -> bytes:
    file = io.BytesIO()
    if form == "png":
        picture.save(file, "PNG", compress_level=1)
    elif _is_photo(picture):
        picture.save(file, "WEBP", quality=80, method=4)
    else:
        picture.save(file, "WEBP", lossless=True, method=4)
    return file.getvalue()


def _is_photo(picture: Image.Image) -> bool:
    sample = picture.resize((_SAMPLE, _SAMPLE), Image.Resampling.NEAREST)
    return sample.getcolors(_PHOTO_COLOURS) is None
