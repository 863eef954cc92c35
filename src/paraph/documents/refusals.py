"""Refusing files, in the reader's language: those that cannot be signed and, for organizations that want this in
production, those that can look different than on the signer's page."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from paraph.kernel.errors import DomainError
from paraph.pdf.refusal import PdfRefused
from paraph.tenants.models import Environment, Organization
from paraph.tenants.scope import TenantScope


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


_MAX_NAMED_PAGES = 20


def refuse_changeable(scope: TenantScope, preflight: Mapping[str, Any]) -> None:
    """Raise ``validation_error`` with the reasons and pages, if the caller's organization refuses such documents."""
    if scope.environment != Environment.PRODUCTION:
        return
    reasons = _reasons(preflight)
    if reasons and Organization.objects.filter(pk=scope.organization_id, refuse_changeable_documents=True).exists():
        message = _("Your organization refuses documents that can look different from what signers see: %(reasons)s.")
        raise DomainError("validation_error", message % {"reasons": "; ".join(reasons)})


def _reasons(preflight: Mapping[str, Any]) -> list[str]:
    pages, unknown = preflight["prints_differently"], preflight["print_unknown"]
    reasons = []
    if pages:
        sentence = ngettext("page %(pages)s prints differently", "pages %(pages)s print differently", len(pages))
        reasons.append(sentence % {"pages": named_pages(pages)})
    if unknown:
        sentence = ngettext(
            "%(count)d page could not be compared with its print",
            "%(count)d pages could not be compared with their print",
            unknown,
        )
        reasons.append(sentence % {"count": unknown})
    if places := preflight.get("drawn_differently", []):
        numbers = sorted({place["page_number"] for place in places})
        sentence = ngettext(
            "readers draw page %(pages)s differently", "readers draw pages %(pages)s differently", len(numbers)
        )
        reasons.append(sentence % {"pages": named_pages(numbers)})
    clauses = _clauses()
    return reasons + [clauses[word] for word in preflight["can_change"]]


def named_pages(numbers: Sequence[int]) -> str:
    """Return a few page numbers, for a sentence."""
    return ", ".join(map(str, numbers[:_MAX_NAMED_PAGES])) + (", …" if len(numbers) > _MAX_NAMED_PAGES else "")


def _clauses() -> dict[str, str]:
    return {
        "scripts": _("it has scripts"),
        "actions": _("it has actions"),
        "layers": _("it has layers"),
        "media": _("it has sound, film or 3D models"),
        "xfa_form": _("it has an XFA form"),
        "hover_annotations": _("it has annotations that appear or disappear under the mouse"),
        "screen_only_annotations": _("it has annotations that are not printed"),
        "print_only_annotations": _("it has annotations that appear only in print"),
        "print_only_contents": _("it has content that appears only in print"),
    }
