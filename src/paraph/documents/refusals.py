"""Why a file is no document, in the reader's language."""

from django.conf import settings
from django.utils.translation import gettext as _

from paraph.pdf.refusal import PdfRefused


def sentence_of(refused: PdfRefused) -> str:
    """One sentence; a reason that is not known here is told in the words of the tool."""
    return _sentences().get(refused.reason, refused.message)


def _sentences() -> dict[str, str]:
    return {
        "not_a_pdf": _("The file is not a PDF."),
        "unreadable": _("The file cannot be read as a PDF."),
        "password": _("The PDF needs a password to open."),
        "no_pages": _("The PDF has no pages."),
        "too_many_pages": _("The PDF has more pages than the limit of %(limit)d.")
        % {"limit": settings.PARAPH.page_limit},
        "dynamic_xfa": _("The PDF is a dynamic XFA form, which cannot be signed as pages."),
        "changes_forbidden": _("An earlier signature of the PDF forbids changes."),
        "too_complex": _("The PDF takes too much memory or time to read."),
    }
