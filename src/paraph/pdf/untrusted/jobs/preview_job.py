"""Files as one PDF, with something over each page."""

import io
from collections.abc import Sequence
from typing import Any

import pikepdf

from paraph.pdf.refusal import too_complex
from paraph.pdf.structure.pages import PageGeometry
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile, geometry_of_page
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

_PRINTED = 4  # flag of an annotation (ISO 32000-2, 12.5.3)


def preview(files: Sequence[UntrustedFile], places: list[list[int]]) -> JobAnswer:
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
        F=_PRINTED,
        AP=pikepdf.Dictionary(N=shown),
    )
