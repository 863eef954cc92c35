"""The forms of people, whose fields are read by the code that reads the API's, and what completes them: people of
earlier requests, and oneself."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from paraph import words
from paraph.messaging.gateways import SMS, has_gateway
from paraph.signature_requests import values
from paraph.signature_requests.models import ERASED_DOMAIN, Channel, Role, SignatureRequest, Signer
from paraph.tenants.limits import allowance
from paraph.tenants.models import User
from paraph.tenants.scope import TenantScope, scoped

LANGUAGES = [(code, words.language_name(code)) for code in words.LOCALES]
_Read = TypeVar("_Read")
_MOST = 200
_REQUESTS = 200  # the latest, whose signers are known
_MOST_KNOWN = 100
_KNOWN = ("first_name", "last_name", "phone")
_MOST_DIGITS = 3  # of the number of rows, which the form bounds


class ReadField(forms.CharField):
    """A text that is read by one of :mod:`paraph.signature_requests.values`, unless it is blank."""

    def __init__(self, reader: Callable[[object], str], **more: Any) -> None:
        super().__init__(**more)
        self.reader = reader

    def clean(self, value: Any) -> str:
        return read_by(self.reader, text) if (text := super().clean(value)) else ""


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
        """Whether it says more than who signs: approves, by SMS, with a phone number, in a language of their own, or
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


def read_by(reader: Callable[[object], _Read], given: object) -> _Read:
    """Return what the reader, one of :mod:`paraph.signature_requests.values`, makes of what was entered. Raise
    ``ValidationError`` with its sentence."""
    try:
        return reader(given)
    except values.InvalidValueError as wrong:
        sentence = str(wrong)
        raise forms.ValidationError(sentence[:1].upper() + sentence[1:]) from wrong


def earlier_signers(scope: TenantScope) -> list[Signer]:
    """Return the signers of the latest requests, to be chosen again: one for each address, the latest first; those that
    were erased have none."""
    latest = scoped(SignatureRequest, scope).order_by("-created_at", "-pk").values_list("pk", flat=True)[:_REQUESTS]
    rows = Signer.objects.filter(request_id__in=list(latest)).only("first_name", "last_name", "email", "phone")
    signers: dict[str, Signer] = {}
    for signer in rows.exclude(email__endswith=ERASED_DOMAIN).order_by("-pk"):
        signers.setdefault(signer.email.lower(), signer)
    return list(signers.values())[:_MOST_KNOWN]


def completed(entered: QueryDict, known: Iterable[Signer]) -> QueryDict:
    """Return what was entered, with name and number where the address of somebody known stands without a name, as in
    a browser without scripts."""
    content, by_address = entered.copy(), {signer.email.lower(): signer for signer in known}
    for row in _rows(content):
        signer = by_address.get(content.get(f"{row}-email", "").strip().lower())
        if signer and not _any(content, row, "first_name", "last_name"):
            for name in _KNOWN:
                content[f"{row}-{name}"] = content.get(f"{row}-{name}") or getattr(signer, name)
    return content


def with_account(entered: QueryDict, user: User) -> QueryDict:
    """Return what was entered, with the owner of the account in the first blank row, else in one more; as it is where
    their address stands there already."""
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
