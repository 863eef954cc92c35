"""The forms of people, whose fields are read by the code that reads the API's."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from paraph.signature_requests import values
from paraph.signature_requests.models import Channel, Role

_MOST = 200


class PersonForm(forms.Form):
    email = forms.CharField(
        label=_("E-mail"),
        max_length=values.LONGEST_EMAIL,
        widget=forms.EmailInput(attrs={"list": "earlier", "autocomplete": "off"}),
    )
    first_name = forms.CharField(label=_("First name"), max_length=values.LONGEST_NAME)
    last_name = forms.CharField(label=_("Last name"), max_length=values.LONGEST_NAME)

    def clean_first_name(self) -> str:
        return _read(values.text, self.cleaned_data["first_name"])

    def clean_last_name(self) -> str:
        return _read(values.text, self.cleaned_data["last_name"])

    def clean_email(self) -> str:
        return _read(values.email, self.cleaned_data["email"])


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

    def __init__(self, *arguments: Any, sms: bool, **more: Any) -> None:
        super().__init__(*arguments, **more)
        channels = [(Channel.EMAIL.value, _("E-mail")), *([(Channel.SMS.value, _("SMS"))] if sms else [])]
        field = self.fields["otp_channel"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = channels

    def clean_phone(self) -> str:
        digits = "".join(self.cleaned_data["phone"].split())
        return _read(values.phone, digits) if digits else ""

    def has_changed(self) -> bool:
        """Return whether anything was entered: a row with nothing but a role is blank."""
        return bool(set(self.changed_data) - {"role"})

    def clean_role(self) -> str:
        return self.cleaned_data["role"] or Role.SIGNER

    def clean(self) -> dict[str, Any]:
        entered = self.cleaned_data
        if entered.get("otp_channel") == Channel.SMS and (phone := entered.get("phone")) is not None:
            if not phone:
                self.add_error("phone", _("A code by SMS needs a phone number."))
            else:
                try:
                    _read(values.sms_number, phone)
                except forms.ValidationError as wrong:
                    self.add_error("phone", wrong)
        return entered


SignerForms = forms.formset_factory(SignerForm, extra=1, can_delete=True, absolute_max=_MOST, max_num=_MOST)


def _read(reader: Callable[[object], str], text: str) -> str:
    try:
        return reader(text)
    except values.InvalidValueError as wrong:
        sentence = str(wrong)
        raise forms.ValidationError(sentence[:1].upper() + sentence[1:]) from wrong
