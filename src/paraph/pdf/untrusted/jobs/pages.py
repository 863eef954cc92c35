"""What PDFium and pikepdf each know of a page, brought together."""

import ctypes

import pypdfium2
from pypdfium2 import raw

from paraph.pdf.structure.geometry import PageGeometry, page_geometry, read_geometry
from paraph.pdf.untrusted.jobs.source import Source


def geometry_of(source: Source, page: pypdfium2.PdfPage, index: int) -> PageGeometry:
    """The geometry of a page that PDFium opened; pikepdf is asked only where a user unit may hide."""
    rectangle = raw.FS_RECTF()
    raw.FPDF_GetPageBoundingBox(page, ctypes.byref(rectangle))
    visible = (rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)
    unit = 1.0
    if source.may_scale:
        pages = source.pikepdf().pages
        unit = read_geometry(pages[index]).unit if index < len(pages) else 1.0
    return page_geometry(visible, None, page.get_rotation(), unit)
