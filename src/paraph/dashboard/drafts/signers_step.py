"""``/app/{o}/drafts/{id}/signers``: who signs, and in which order, and who gets a copy of what was signed."""

from dataclasses import asdict
from typing import TypeAlias

from django import forms
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import resolve_url
from django.utils.translation import gettext_lazy as _

from paraph.dashboard.decorators import scope, see_other
from paraph.dashboard.drafts.draft_page import draft_page, show_step, with_removed
from paraph.dashboard.drafts.people import PersonForm, SignerForm, SignerForms, completed, earlier_signers, with_account
from paraph.drafts import editing
from paraph.drafts.content import signer_of
from paraph.drafts.models import Draft, Json, Step
from paraph.signature_requests.input import MOST_COPIES
from paraph.signature_requests.models import Mode
from paraph.tenants.limits import allowance
from paraph.tenants.models import Member

Rows: TypeAlias = "forms.BaseFormSet[SignerForm]"
Copies: TypeAlias = "forms.BaseFormSet[PersonForm]"
Shown: TypeAlias = "tuple[Rows, Copies, forms.Form]"
_BUTTONS = {"up", "remove", "remove-copy"}
_CopyForms = forms.formset_factory(
    PersonForm, extra=1, can_delete=True, absolute_max=MOST_COPIES + 1, max_num=MOST_COPIES
)


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
        order = OrderForm(initial={"mode": draft.content["mode"]})
        return _page(request, member, draft, (_unbound(member, draft), _unbound_copies(draft), order))
    rows, copies, order = _bound(request, member), _bound_copies(request.POST), OrderForm(request.POST)
    if not (rows.is_valid() & order.is_valid() & (copies is None or copies.is_valid())):
        return _page(request, member, draft, (rows, copies or _unbound_copies(draft), order))
    signers = _signers(draft, rows)
    up = request.POST.get("up", "")
    if up.isdecimal() and 0 < int(up) < len(signers):
        signers.insert(int(up) - 1, signers.pop(int(up)))
    draft.content["mode"] = order.cleaned_data["mode"]
    if copies is not None:
        draft.content["copies"] = [
            {name: entered[name] for name in ("first_name", "last_name", "email")} for entered in _kept(copies)
        ]
    editing.replace_signers(draft, signers)
    if request.POST.get("action", "next") in {"next", "only-me"} and not _BUTTONS & set(request.POST):
        if not signers:
            order.add_error(None, _("Add a signer first."))
            return _page(request, member, draft, (_unbound(member, draft), _unbound_copies(draft), order))
        return see_other("draft_places", member.organization_id, draft.pk)
    here = resolve_url("draft_signers", member.organization_id, draft.pk)
    return see_other(f"{here}#{_focused(request.POST, len(signers), len(draft.content.get('copies', ())))}")


def _focused(pressed: QueryDict, signers: int, copies: int) -> str:
    """Return the id of the field that has the focus next: of the row that was moved, of the one in the place of one
    that was removed, else of the blank one."""
    if (removed := pressed.get("remove-copy", "")) or pressed.get("action") == "add-copy":
        return f"id_copy-{_at(removed, copies)}-email"
    row = pressed.get("remove", "") or pressed.get("up", "")
    return f"id_signer-{max(_at(row, signers) - ('up' in pressed), 0)}-email"


def _at(row: str, rows: int) -> int:
    return min(int(row), rows) if row.isdecimal() else rows


def _unbound(member: Member, draft: Draft) -> Rows:
    known = [{"id": signer.ref, **asdict(signer)} for signer in draft.signers]
    return SignerForms(initial=known, prefix="signer", form_kwargs={"plan": member.organization.plan})


def _bound(request: HttpRequest, member: Member) -> Rows:
    content: QueryDict = request.POST
    if content.get("action") in {"me", "only-me"}:
        content = with_account(content, member.user)
    content = with_removed(completed(content, earlier_signers(scope(member))), remove="signer")
    return SignerForms(content, prefix="signer", form_kwargs={"plan": member.organization.plan})


def _unbound_copies(draft: Draft) -> Copies:
    return _CopyForms(initial=draft.content.get("copies", []), prefix="copy")


def _bound_copies(entered: QueryDict) -> "Copies | None":
    """Return the list as it was entered, None where the form says nothing of copies, which then stay as they are."""
    if "copy-TOTAL_FORMS" not in entered:
        return None
    return _CopyForms(with_removed(entered, **{"remove-copy": "copy"}), prefix="copy")


def _kept(forms_of: "Rows | Copies") -> list[Json]:
    """Return what was entered in those that are neither blank nor removed."""
    entered = [form.cleaned_data for form in forms_of]
    return [each for each in entered if each.get("email") and not each.get("DELETE")]


def _signers(draft: Draft, rows: Rows) -> list[Json]:
    """Return those that were entered, with their refs where they were there before."""
    known = {signer.ref for signer in draft.signers}
    signers = []
    for entered in _kept(rows):
        ref = str(entered["id"])
        signers.append(signer_of(entered, ref if ref in known else ""))
        known.discard(ref)
    return signers


def _page(request: HttpRequest, member: Member, draft: Draft, shown: Shown) -> HttpResponse:
    rows, copies, order = shown
    wrong = next((form.fields[name] for form in [*rows, *copies] for name in form.errors if name in form.fields), None)
    if wrong:
        wrong.widget.attrs["autofocus"] = True
    address = member.user.email.casefold()
    content = {
        "rows": rows,
        "copies": copies,
        "order": order,
        "earlier": earlier_signers(scope(member)),
        "absent": all(signer.email.casefold() != address for signer in draft.signers),
        "most": allowance(member.organization.plan).signers,
        "count": sum(1 for form in rows if isinstance(form, SignerForm) and form["id"].value()),
    }
    return show_step(request, member, draft, Step.SIGNERS, content)
