"""What members enter about applications and keys."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.kernel.errors import DomainError
from paraph.tenants.models import Application, Environment

_OVERLAPS = [
    (0, gettext_lazy("Not at all: revoke them at once")),
    (24, gettext_lazy("One day")),
    (24 * 7, gettext_lazy("A week")),
    (24 * 30, gettext_lazy("30 days")),
    (24 * 90, gettext_lazy("90 days")),
]
_WEBHOOK_HELP = gettext_lazy(
    "Where events are sent, such as https://example.com/hooks/paraph. Without a URL, the sandbox keeps and shows them."
)


class NewApplicationForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    environment = forms.ChoiceField(
        label=gettext_lazy("Environment"),
        choices=Environment.choices,
        help_text=gettext_lazy(
            "The sandbox is for testing: nothing signed there is legally binding. An application cannot be "
            "moved to production later."
        ),
    )
    webhook_url = forms.CharField(
        label=gettext_lazy("Webhook URL"),
        required=False,
        max_length=2000,
        help_text=_WEBHOOK_HELP,
        widget=forms.TextInput(attrs={"inputmode": "url", "autocapitalize": "off", "spellcheck": "false"}),
    )


class SettingsForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    webhook_url = NewApplicationForm.base_fields["webhook_url"]
    frame_origins = forms.CharField(
        label=gettext_lazy("Frame origins"),
        required=False,
        help_text=gettext_lazy(
            "Sites that may show signing pages in a frame, one per line. Leave empty to allow any site."
        ),
        widget=forms.Textarea(attrs={"rows": 3, "autocapitalize": "off", "spellcheck": "false"}),
    )


class RotationForm(forms.Form):
    overlap = forms.TypedChoiceField(
        label=gettext_lazy("Keep the old key and secret valid for"), choices=_OVERLAPS, coerce=int, initial=24
    )


class RevokeForm(forms.Form):
    application_name = forms.CharField(
        label=gettext_lazy("Application's name"), widget=forms.TextInput(attrs={"autocomplete": "off"})
    )

    def __init__(self, application: Application, *args: Any) -> None:
        super().__init__(*args)
        self._name = application.name

    def clean_application_name(self) -> str:
        given: str = self.cleaned_data["application_name"]
        if given.strip() != self._name:
            raise forms.ValidationError(_("This is not the name of the application."))
        return given


class KeyForm(forms.Form):
    """The key is never shown again, neither in the form nor anywhere else."""

    key = forms.CharField(
        label=gettext_lazy("API key"),
        max_length=200,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}, render_value=False),
    )


def add_refusal(form: forms.Form, refusal: DomainError) -> None:
    """Add the sentence of a refusal to the field whose name it begins with, which stands before it already, else to
    the whole form."""
    for name in form.fields:
        about = refusal.message.partition(" ")[0]
        if about in (name, name.removesuffix("s")):
            sentence = refusal.message.removeprefix(about).lstrip()
            form.add_error(name, sentence[:1].upper() + sentence[1:])
            return
    form.add_error(None, refusal.message)
