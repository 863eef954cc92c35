"""``/app/{o}/drafts/{id}/signers``: who signs, and in which order, and who gets a copy of what was signed; with the
forms of people and what completes them: people of earlier requests, and oneself."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any, TypeAlias

from django import forms
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import resolve_url
from django.utils.translation import gettext_lazy as _

from paraph.dashboard.decorators import scope, see_other
from paraph.dashboard.drafts.drafts import draft_page, show_step, with_removed
from paraph.dashboard.drafts.options import LANGUAGES, ReadField, read_by
from paraph.drafts import editing
from paraph.drafts.content import signer_of
from paraph.drafts.models import Draft, Json, Step
from paraph.messaging.gateways import SMS, has_gateway
from paraph.signature_requests import values
from paraph.signature_requests.input import MOST_COPIES
from paraph.signature_requests.models import ERASED_DOMAIN, Channel, Mode, Role, SignatureRequest, Signer
from paraph.tenants.limits import allowance
from paraph.tenants.models import Member, User
from paraph.tenants.scope import TenantScope, scoped

Rows: TypeAlias = "forms.BaseFormSet[SignerForm]"
Copies: TypeAlias = "forms.BaseFormSet[PersonForm]"
Shown: TypeAlias = "tuple[Rows, Copies, forms.Form]"
_BUTTONS = {"up", "remove", "remove-copy"}
_MOST = 200
_REQUESTS = 200  # the latest, whose signers can be chosen again
_MOST_KNOWN = 100
_KNOWN = ("first_name", "last_name", "phone")
_MOST_DIGITS = 3  # of the number of rows, which the form bounds


def _name(label: Any, lacking: Any) -> ReadField:
    return ReadField(values.text, label=label, error_messages={"required": lacking}, max_length=values.LONGEST_NAME)


class PersonForm(forms.Form):
    email = ReadField(
        values.email,
        label=_("E-mail"),
        error_messages={"required": _("Enter an e-mail address.")},
        max_length=values.LONGEST_EMAIL,
        widget=forms.EmailInput(attrs={"list": "earlier", "autocomplete": "off"}),
    )
    first_name = _name(_("First name"), _("Enter a first name."))
    last_name = _name(_("Last name"), _("Enter a last name."))


class SignerForm(PersonForm):
    id = forms.IntegerField(required=False, widget=forms.HiddenInput)
    phone = forms.CharField(
        label=_("Phone"), required=False, max_length=40, widget=forms.TextInput(attrs={"type": "tel"})
    )
    otp_channel = forms.ChoiceField(label=_("Send code by"), initial=Channel.EMAIL)
    role = forms.ChoiceField(
        label=_("Role"),
        choices=[(Role.SIGNER, _("Signs")), (Role.APPROVER, _("Approves"))],
        initial=Role.SIGNER,
        required=False,
    )
    language = forms.ChoiceField(
        label=_("Language"), required=False, choices=[("", _("Same as the request")), *LANGUAGES]
    )

    def __init__(self, *arguments: Any, plan: str, **more: Any) -> None:
        super().__init__(*arguments, **more)
        sms = allowance(plan).sms and has_gateway(SMS)
        field: Any = self.fields["otp_channel"]
        field.choices = [(Channel.EMAIL.value, _("E-mail")), *([(Channel.SMS.value, _("SMS"))] if sms else [])]

    @property
    def is_special(self) -> bool:
        """Whether the form says more than who signs: a role, a code by SMS, a phone number, a language of their own, or
        something that is wrong."""
        usual = {"role": Role.SIGNER, "otp_channel": Channel.EMAIL, "phone": "", "language": ""}
        return any(self.errors.get(name) or (self[name].value() or own) != own for name, own in usual.items())

    def clean_phone(self) -> str:
        digits = "".join(self.cleaned_data["phone"].split())
        if digits and not digits.startswith("+"):
            raise forms.ValidationError(_("Include the country code, such as +44 7700 900123."))
        return read_by(values.phone, digits) if digits else ""

    def has_changed(self) -> bool:
        """Return whether anything was entered: a row with nothing but a role or a language is blank."""
        return bool(set(self.changed_data) - {"role", "language"})

    def clean_role(self) -> str:
        return self.cleaned_data["role"] or Role.SIGNER

    def clean(self) -> dict[str, Any]:
        entered = self.cleaned_data
        if entered.get("otp_channel") == Channel.SMS and (phone := entered.get("phone")) is not None:
            if not phone:
                self.add_error("phone", _("A code by SMS needs a phone number."))
            else:
                try:
                    read_by(values.sms_number, phone)
                except forms.ValidationError as wrong:
                    self.add_error("phone", wrong)
        return entered


SignerForms = forms.formset_factory(SignerForm, extra=1, can_delete=True, absolute_max=_MOST, max_num=_MOST)
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
    "Add recipient", and "Remove" at each recipient; "Continue". Each saves what is entered."""
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
    """Return the id of the field that has the focus next: in the row that was moved, in the row that took the place of
    a removed one, else in the blank row."""
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
    """Return what was entered in the rows that are neither blank nor removed."""
    entered = [form.cleaned_data for form in forms_of]
    return [each for each in entered if each.get("email") and not each.get("DELETE")]


def _signers(draft: Draft, rows: Rows) -> list[Json]:
    """Return the signers that were entered, with their refs where the draft had them before."""
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


def earlier_signers(scope: TenantScope) -> list[Signer]:
    """Return the signers of the latest requests, to be chosen again: one for each address, the latest first. Signers
    who were erased are left out."""
    latest = scoped(SignatureRequest, scope).order_by("-created_at", "-pk").values_list("pk", flat=True)[:_REQUESTS]
    rows = Signer.objects.filter(request_id__in=list(latest)).only("first_name", "last_name", "email", "phone")
    signers: dict[str, Signer] = {}
    for signer in rows.exclude(email__endswith=ERASED_DOMAIN).order_by("-pk"):
        signers.setdefault(signer.email.lower(), signer)
    return list(signers.values())[:_MOST_KNOWN]


def completed(entered: QueryDict, known: Iterable[Signer]) -> QueryDict:
    """Return what was entered, with name and phone number filled in where the address of a known signer stands without
    a name, as in a browser without scripts."""
    content, by_address = entered.copy(), {signer.email.lower(): signer for signer in known}
    for row in _rows(content):
        signer = by_address.get(content.get(f"{row}-email", "").strip().lower())
        if signer and not _any(content, row, "first_name", "last_name"):
            for name in _KNOWN:
                content[f"{row}-{name}"] = content.get(f"{row}-{name}") or getattr(signer, name)
    return content


def with_account(entered: QueryDict, user: User) -> QueryDict:
    """Return what was entered, with the owner of the account in the first blank row, else in one more row; unchanged
    where their address is entered already."""
    content, rows = entered.copy(), list(_rows(entered))
    if any(content.get(f"{row}-email", "").strip().lower() == user.email for row in rows):
        return content
    row = next((row for row in rows if not _any(content, row, "email", "first_name", "last_name")), "")
    if not row:
        row = f"signer-{len(rows)}"
        content["signer-TOTAL_FORMS"] = str(len(rows) + 1)
        content[f"{row}-otp_channel"] = "email"
    content[f"{row}-email"] = user.email
    content[f"{row}-first_name"], content[f"{row}-last_name"] = _names(user.name)
    return content


def _names(name: str) -> tuple[str, str]:
    """Split a name where most names can be split; where it is one word, somebody has to enter the other."""
    first, _, last = " ".join(name.split()).rpartition(" ")
    return (first or last)[: values.LONGEST_NAME], (last if first else "")[: values.LONGEST_NAME]


def _rows(content: QueryDict) -> Iterator[str]:
    count = content.get("signer-TOTAL_FORMS", "")
    if count.isdecimal() and len(count) <= _MOST_DIGITS:
        yield from (f"signer-{number}" for number in range(int(count)))


def _any(content: QueryDict, row: str, *names: str) -> bool:
    return any(content.get(f"{row}-{name}", "").strip() for name in names)
