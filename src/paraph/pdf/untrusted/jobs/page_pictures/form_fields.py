"""Form fields in the pictures of pages."""

import pypdfium2
from pypdfium2 import raw


def show_form_fields(document: pypdfium2.PdfDocument) -> None:
    """Make PDFium draw all form fields, as browsers do: even unlisted ones, and in a document without a form. Must
    be called before the first page is opened."""
    if document.formenv is None:
        config = raw.FPDF_FORMFILLINFO(version=2)
        handle = raw.FPDFDOC_InitFormFillEnvironment(document, config)
        if not handle:
            raise pypdfium2.PdfiumError("the form fields of the document cannot be shown")
        document.formenv = pypdfium2.PdfFormEnv(handle, config)
