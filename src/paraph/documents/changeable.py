"""Refusing documents that can look different than on the signer's page, for organizations that want this in
production."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from paraph.kernel.errors import DomainError
from paraph.tenants.models import Environment, Organization
from paraph.tenants.scope import TenantScope

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
