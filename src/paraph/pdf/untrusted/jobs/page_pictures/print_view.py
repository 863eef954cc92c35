"""Making PDFium show a page as it prints, part of which it leaves to the viewer.

PDFium prints form fields as on the screen, whatever their flags, and ignores the layer of an annotation. So annotations
get flags with the same effect. That changes the document in memory for good.
"""

import ctypes
from collections.abc import Iterator
from typing import Any

import pikepdf
import pypdfium2
from pypdfium2 import raw

from paraph.pdf.untrusted.jobs.page_pictures.annotation_visibility import (
    HIDDEN,
    INVISIBLE,
    NO_VIEW,
    PRINT,
    is_printed,
)
from paraph.pdf.untrusted.jobs.page_pictures.layer_visibility import is_layer_printed
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile


def show_as_printed(file: UntrustedFile, page: pypdfium2.PdfPage, index: int, *, layered: bool) -> None:
    """Set the flags of the page's annotations. ``layered``: the file mentions optional content."""
    for position, annotation in _annotations(page):
        flags = raw.FPDFAnnot_GetFlags(annotation)
        shown = is_printed(flags) and not (layered and _is_left_out(file, index, position))
        raw.FPDFAnnot_SetFlags(annotation, (flags | PRINT) & ~(INVISIBLE | NO_VIEW) if shown else flags | HIDDEN)


def make_fields_annotations(page: pypdfium2.PdfPage) -> None:
    """Turn form fields into plain annotations, to which PDFium applies layers. They must then not be drawn as
    fields."""
    for _, annotation in _annotations(page):
        if raw.FPDFAnnot_GetSubtype(annotation) == raw.FPDF_ANNOT_WIDGET:
            raw.FPDFAnnot_SetStringValue(annotation, b"Subtype", _STAMP)


_STAMP = (ctypes.c_ushort * 6)(*b"Stamp\0")


def _annotations(page: pypdfium2.PdfPage) -> Iterator[tuple[int, Any]]:
    """Yield each annotation with its position in /Annots."""
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
