"""``/app/{o}/drafts/{id}/places``: where each signer's stamps go."""

from typing import TypeAlias

from django import forms
from django.http import HttpRequest, HttpResponse, QueryDict

from paraph.dashboard.decorators import see_other
from paraph.dashboard.drafts.draft_page import draft_page, show_step
from paraph.dashboard.drafts.sheets import palette, sheets
from paraph.dashboard.drafts.stamp_form import StampForm, StampForms
from paraph.drafts import editing
from paraph.drafts.missing import missing
from paraph.drafts.models import Draft, DraftStamp, Step
from paraph.drafts.tags import place_by_tags
from paraph.signature_requests.input import DEFAULT_SIZE, HEIGHTS, MOST_STAMPS, WIDTHS
from paraph.tenants.models import Member

Rows: TypeAlias = "forms.BaseFormSet[StampForm]"
_FIELDS = ("x", "y", "width", "height")
_LIMITS = {
    "widths": "{:g} {:g}".format(*WIDTHS),
    "heights": "{:g} {:g}".format(*HEIGHTS),
    "size": "{:g} {:g}".format(*DEFAULT_SIZE),
    "most": MOST_STAMPS,
}


@draft_page(Step.PLACEMENTS)
def places_step(request: HttpRequest, member: Member, draft: Draft) -> HttpResponse:
    """Buttons: "Add stamp"; "Remove" at each stamp; "Continue". Each saves what is entered. "Continue" is held back
    while a signer or a document has no stamp.

    With scripts, the form becomes the editor of ``static/dashboard/placements.js``, which saves it after each change
    with the action "save"."""
    if not draft.documents.exists():
        return see_other("draft_documents", member.organization_id, draft.pk)
    if not draft.signers.exists():
        return see_other("draft_signers", member.organization_id, draft.pk)
    if request.method != "POST":
        place_by_tags(draft)
        return _page(request, member, draft, _unbound(draft))
    rows = _bound(request, draft)
    if not rows.is_valid():
        return _page(request, member, draft, rows, 422)
    editing.replace_places(draft, [_stamp(form) for form in rows if not form.cleaned_data.get("DELETE")])
    pressed = request.POST.get("action", "next")
    if pressed == "add":
        editing.add_stamp(draft)
    onward = pressed == "next" and "remove" not in request.POST
    if onward and missing(draft).of(Step.PLACEMENTS):
        return _page(request, member, draft, _unbound(draft), 422, held_back=True)
    return see_other("draft_review" if onward else "draft_places", member.organization_id, draft.pk)


def _unbound(draft: Draft) -> Rows:
    known = [
        {
            "document": stamp.document_id,
            "signer": stamp.signer_id,
            "page": stamp.page_number,
            **{name: f"{getattr(stamp, name):.10g}" for name in _FIELDS},
        }
        for stamp in DraftStamp.objects.filter(document__draft=draft)
    ]
    return StampForms(initial=known, prefix="stamp", form_kwargs={"draft": draft})


def _bound(request: HttpRequest, draft: Draft) -> Rows:
    content: QueryDict = request.POST.copy()
    removed = request.POST.get("remove", "")
    if removed.isdecimal():
        content[f"stamp-{int(removed)}-DELETE"] = "on"
    return StampForms(content, prefix="stamp", form_kwargs={"draft": draft})


def _stamp(form: StampForm) -> DraftStamp:
    entered = form.cleaned_data
    rectangle = {name: entered[name] for name in _FIELDS}
    return DraftStamp(document=entered["document"], signer=entered["signer"], page_number=entered["page"], **rectangle)


def _page(
    request: HttpRequest, member: Member, draft: Draft, rows: Rows, status: int = 200, *, held_back: bool = False
) -> HttpResponse:
    lacking = missing(draft)
    files = [file | {"lacks": file["row"].pk in lacking.documents} for file in sheets(draft, with_targets=True)]
    several = len(files) > 1
    content = {
        "rows": rows,
        "files": files,
        "several": several,
        "signers": [each | {"lacks": each["pk"] in lacking.signers} for each in palette(draft)],
        "limits": _LIMITS,
        "held_back": lacking.of(Step.PLACEMENTS) if held_back else [],
    }
    return show_step(request, member, draft, Step.PLACEMENTS, content, status=status)
