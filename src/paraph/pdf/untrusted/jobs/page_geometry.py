"""The geometry of a page that PDFium has opened."""

import ctypes
from decimal import Decimal
from typing import Any

import pypdfium2
from pypdfium2 import raw

from paraph.pdf.structure.geometry import PageGeometry, page_geometry
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile


def geometry_of_page(file: UntrustedFile, page: pypdfium2.PdfPage, index: int) -> PageGeometry:
    """Return the geometry; pikepdf is asked for the user unit, which PDFium does not tell, only if there may be one."""
    rectangle = raw.FS_RECTF()
    raw.FPDF_GetPageBoundingBox(page, ctypes.byref(rectangle))
    visible = (rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)
    unit = _user_unit(file, index) if file.may_scale else None
    return page_geometry(visible, None, page.get_rotation(), unit)


def _user_unit(file: UntrustedFile, index: int) -> float | None:
    pages = file.pikepdf().pages
    value: Any = pages[index].obj.get("/UserUnit") if index < len(pages) else None
    return float(value) if isinstance(value, int | Decimal) else None
