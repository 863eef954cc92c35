"""``/app/{o}/drafts/{id}/signers``: who signs, and in which order."""

from typing import TypeAlias

from django import forms
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext_lazy as _

from paraph.dashboard.decorators import scope, see_other
from paraph.dashboard.drafts import copies
from paraph.dashboard.drafts.draft_page import draft_page, show_step
from paraph.dashboard.drafts.known_people import completed, with_account
from paraph.dashboard.drafts.signer_form import SignerForm, SignerForms
from paraph.drafts import editing
from paraph.drafts.earlier_signers import earlier_signers
from paraph.drafts.models import Draft, DraftSigner, Step
from paraph.signature_requests.models import Mode
from paraph.tenants.limits import allowance
from paraph.tenants.models import Member

Rows: TypeAlias = "forms.BaseFormSet[SignerForm]"
Shown: TypeAlias = "tuple[Rows, copies.Copies, forms.Form]"
_FIELDS = ("first_name", "last_name", "email", "phone", "otp_channel", "role")
_BUTTONS = {"up", "remove", "remove-copy"}


class OrderForm(forms.Form):
    mode = forms.ChoiceField(
        label=_("Signing order"),
        choices=[(Mode.PARALLEL, _("All at the same time")), (Mode.SEQUENTIAL, _("One after the other, as listed"))],
    )


@draft_page(Step.SIGNERS)
def signers_step(request: HttpRequest, member: Member, draft: Draft) -> HttpResponse:
    """Buttons: "Add me", and "Only I sign", which goes on at once; "Add signer", "Move up" and "Remove" at each signer;
    "Add recipient", and "Remove" at each who gets a copy; "Continue". Each saves what is entered."""
    if request.method != "POST":
        shown = (_unbound(member, draft), copies.unbound(draft), OrderForm(initial={"mode": draft.mode}))
        return _page(request, member, draft, shown)
    rows, kept, order = _bound(request, member), copies.bound(request.POST), OrderForm(request.POST)
    if not (rows.is_valid() & order.is_valid() & (kept is None or kept.is_valid())):
        return _page(request, member, draft, (rows, kept or copies.unbound(draft), order), status=422)
    signers = _signers(draft, rows)
    up = request.POST.get("up", "")
    if up.isdecimal() and 0 < int(up) < len(signers):
        signers.insert(int(up) - 1, signers.pop(int(up)))
    draft.mode = order.cleaned_data["mode"]
    if kept is not None:
        copies.keep(draft, kept)
    draft.save(update_fields=["mode", "more_options"])
    editing.replace_signers(draft, signers)
    if request.POST.get("action", "next") in {"next", "only-me"} and not _BUTTONS & set(request.POST):
        if not signers:
            order.add_error(None, _("Add a signer first."))
            return _page(request, member, draft, (_unbound(member, draft), copies.unbound(draft), order), status=422)
        return see_other("draft_places", member.organization_id, draft.pk)
    return see_other("draft_signers", member.organization_id, draft.pk)


def _unbound(member: Member, draft: Draft) -> Rows:
    known = [{"id": signer.pk, **{name: getattr(signer, name) for name in _FIELDS}} for signer in draft.signers.all()]
    return SignerForms(initial=known, prefix="signer", form_kwargs=_kwargs(member))


def _bound(request: HttpRequest, member: Member) -> Rows:
    content: QueryDict = request.POST.copy()
    if request.POST.get("action") in {"me", "only-me"}:
        content = with_account(content, member.user)
    content = completed(content, earlier_signers(scope(member)))
    removed = request.POST.get("remove", "")
    if removed.isdecimal():
        content[f"signer-{int(removed)}-DELETE"] = "on"
    return SignerForms(content, prefix="signer", form_kwargs=_kwargs(member))


def _kwargs(member: Member) -> dict[str, bool]:
    return {"sms": allowance(member.organization.plan).sms}


def _signers(draft: Draft, rows: Rows) -> list[DraftSigner]:
    known = {signer.pk: signer for signer in draft.signers.all()}
    signers = []
    for form in rows:
        entered = form.cleaned_data
        if not entered.get("email") or entered.get("DELETE"):
            continue
        signer = known.pop(entered["id"], None) or DraftSigner()
        for name in _FIELDS:
            setattr(signer, name, entered[name])
        signers.append(signer)
    return signers


def _page(request: HttpRequest, member: Member, draft: Draft, shown: Shown, *, status: int = 200) -> HttpResponse:
    rows, kept, order = shown
    content = {
        "rows": rows,
        "copies": kept,
        "order": order,
        "earlier": earlier_signers(scope(member)),
        "absent": not draft.signers.filter(email__iexact=member.user.email).exists(),
        "most": allowance(member.organization.plan).signers,
        "count": sum(1 for form in rows if isinstance(form, SignerForm) and form["id"].value()),
    }
    return show_step(request, member, draft, Step.SIGNERS, content, status=status)
