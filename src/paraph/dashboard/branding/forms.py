"""Name, colours and logo of a branding profile."""

from django import forms
from django.utils.translation import gettext_lazy

from paraph.kernel.appearance import is_color
from paraph.tenants.branding import DEFAULT

COLORS = ("background_color", "text_color", "accent_color")
_FORM = gettext_lazy("Write a colour as #1a2b3c.")


def _color(label: object) -> forms.CharField:
    widget = forms.TextInput(attrs={"type": "color"})
    field = forms.RegexField(r"^#[0-9A-Fa-f]{6}\Z", label=str(label), widget=widget, error_messages={"invalid": _FORM})
    field.label = label  # type: ignore[assignment]
    return field


class LogoForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("Picture"),
        widget=forms.FileInput(attrs={"accept": ".png,.jpg,.jpeg,.svg,image/png,image/jpeg,image/svg+xml"}),
        error_messages={
            "required": gettext_lazy("Choose a PNG, JPEG or SVG file."),
            "empty": gettext_lazy("The file is empty."),
        },
    )


class ProfileForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    background_color = _color(gettext_lazy("Background"))
    text_color = _color(gettext_lazy("Text"))
    accent_color = _color(gettext_lazy("Accent"))
    signature_only = forms.BooleanField(
        label=gettext_lazy("Stamps show the signature alone"),
        help_text=gettext_lazy(
            "Without line, name, time and request number, for forms that print them. The proof states them all."
        ),
        required=False,
    )

    def palette(self) -> dict[str, str]:
        """Return the colours to show: those entered where they are colours, else the first or usual ones."""
        chosen = (str(self[field].value() or "") for field in COLORS)
        return {
            field: color if is_color(color) else usual
            for field, color, usual in zip(COLORS, chosen, DEFAULT, strict=True)
        }
