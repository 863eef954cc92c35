"""Saying why a file is refused, in the reader's language."""

from django.utils.translation import gettext as _

from paraph.pdf.refusal import PdfRefused


def sentence_of(refused: PdfRefused) -> str:
    """Return one translated sentence with the facts of the refusal; the untranslated message for an unknown reason."""
    sentence = _sentences().get(refused.reason)
    return sentence % refused.facts if sentence else refused.message


def _sentences() -> dict[str, str]:
    return {
        "not_a_pdf": _("The file is not a PDF."),
        "unreadable": _("The file cannot be read as a PDF."),
        "damaged": _(
            "The PDF is damaged, so that some readers cannot open it. Save it again with the program that made it."
        ),
        "password": _("The PDF requires a password to open."),
        "encrypted_for_certificates": _("The PDF is encrypted with certificates, so only their holders can open it."),
        "unknown_encryption": _("The PDF is encrypted in a way that is not supported."),
        "integrity_code": _(
            "The PDF is encrypted with an integrity code (ISO/TS 32004), which a seal would break. Save it without "
            "encryption and try again."
        ),
        "no_pages": _("The PDF has no pages."),
        "too_many_pages": _("The PDF has %(count)d pages; at most %(limit)d are allowed."),
        "unclear_page_count": _("The page tree of the PDF is damaged: readers disagree on its number of pages."),
        "page_not_shown": _("Page %(page)d of the PDF cannot be shown."),
        "no_such_page": _("The PDF has %(count)d pages, so there is no page %(page)d."),
        "shown_differently": _(
            "The PDF is damaged in a way that makes readers show different pages, so it cannot be signed. "
            "Save it again with the program that made it."
        ),
        "link_border_over_text": _(
            "On page %(page)d the border of a link lies over text, and readers draw it differently, so the PDF cannot "
            "be signed. Remove it, or print the PDF to a new one."
        ),
        "annotation_over_text": _(
            "On page %(page)d an annotation (%(type)s) lies over text, and readers draw it differently, so the PDF "
            "cannot be signed. Remove it, or print the PDF to a new one."
        ),
        "form_field_over_text": _(
            "On page %(page)d a form field lies over text, and readers draw it differently, so the PDF cannot be "
            "signed. Remove it, or print the PDF to a new one."
        ),
        "cannot_be_sealed": _("The PDF cannot be sealed: its structure is damaged beyond repair."),
        "dynamic_xfa": _("The PDF is a dynamic XFA form, which has no fixed pages to sign; print it to a PDF first."),
        "changes_forbidden": _("The PDF has a signature that forbids any change, so it cannot be signed again."),
        "signature_does_not_hold": _(
            "The PDF has an earlier signature that does not hold or cannot be checked, so nobody could tell later "
            "whether the PDF was altered. Send it as it was before that signature, or print it to a new PDF."
        ),
        "too_complex": _("Reading the PDF takes too much memory or time."),
    }
