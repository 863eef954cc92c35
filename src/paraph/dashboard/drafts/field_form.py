"""The form of a field that a signer fills in."""

from contextlib import suppress
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.dashboard.drafts.place_form import MOST, PlaceForm
from paraph.drafts.models import DraftField
from paraph.signature_requests.fields.input import FONT_SIZES, SMALLEST_SIDE, FieldInput, check_field
from paraph.signature_requests.fields.kinds import KINDS, LONGEST_TEXT
from paraph.signature_requests.models import LONGEST_FIELD_NAME, LONGEST_LABEL
from paraph.signature_requests.payload import read_small
from paraph.signature_requests.problems import InvalidPayloadError, Problem, Problems

_TICKED = ("true", "on", "yes", "1", "x")


class FieldForm(PlaceForm):
    """The form of a field; what its type does not have is left out, whatever was entered."""

    type = forms.ChoiceField(label=gettext_lazy("Type"), choices=[(kind.type, kind.label) for kind in KINDS.values()])
    name = forms.CharField(label=gettext_lazy("Name"), max_length=LONGEST_FIELD_NAME)
    label = forms.CharField(label=gettext_lazy("Label"), max_length=LONGEST_LABEL, required=False)
    required = forms.BooleanField(label=gettext_lazy("Required"), required=False, initial=True)
    options = forms.CharField(
        label=gettext_lazy("Options, one on each line"), required=False, widget=forms.Textarea(attrs={"rows": 4})
    )
    value = forms.CharField(label=gettext_lazy("Prefilled with"), max_length=LONGEST_TEXT, required=False)
    read_only = forms.BooleanField(label=gettext_lazy("Signers cannot change it"), required=False)
    max_length = forms.IntegerField(
        label=gettext_lazy("Characters at most"), min_value=1, max_value=LONGEST_TEXT, required=False
    )
    minimum = forms.CharField(label=gettext_lazy("At least"), max_length=30, required=False)
    maximum = forms.CharField(label=gettext_lazy("At most"), max_length=30, required=False)
    font_size = forms.FloatField(
        label=gettext_lazy("Font size"), min_value=FONT_SIZES[0], max_value=FONT_SIZES[1], initial=10, required=False
    )

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        for name in ("width", "height"):
            self.fields[name].widget.attrs["min"] = SMALLEST_SIDE
        self.fields["font_size"].widget.attrs["step"] = "any"

    def clean(self) -> dict[str, Any]:
        entered = self.cleaned_data
        for name in ("width", "height"):
            if entered.get(name, SMALLEST_SIDE) < SMALLEST_SIDE:
                self.add_error(name, _("At least %(least)s.") % {"least": f"{SMALLEST_SIDE:g}"})
        if not self.errors:
            self.refuse_misfits()
        if not self.errors:
            self._check_content()
        return entered

    def field(self) -> DraftField:
        entered = self.cleaned_data
        place = {"document": entered["document"], "signer": entered["signer"], **self.rectangle()}
        return DraftField(**place, content=self.content())

    def content(self) -> dict[str, Any]:
        """Return the field of the payload, without its placement and without what is as by default."""
        entered = self.cleaned_data
        kind = KINDS[entered["type"]]
        content: dict[str, Any] = {"name": entered["name"], "type": entered["type"]}
        for name in ("label", *kind.attributes, "font_size"):
            value = self._read(name, entered)
            is_empty_box = value is False and not (name == "value" and entered["read_only"])
            if value is not None and value != "" and not is_empty_box:  # a bound of 0 is one
                content[name] = value
        if "required" in kind.attributes:
            content["required"] = entered["required"]
        return content

    def _read(self, name: str, entered: dict[str, Any]) -> Any:
        value = entered.get(name)
        if name == "options":
            return [line.strip() for line in (value or "").splitlines() if line.strip()]
        if name == "value" and KINDS[entered["type"]].is_box:
            return str(value).strip().casefold() in _TICKED
        if name in ("minimum", "maximum") and value and KINDS[entered["type"]].is_number:
            with suppress(ValueError):
                return float(value)
        return value

    def _check_content(self) -> None:
        """Check the content by the code that checks the API's, whose sentences stand at the fields of the form."""
        for problem in _problems(self.content(), self.rectangle()):
            name = problem.path.partition(".")[0].partition("[")[0]
            sentence = f"{problem.sentence[:1].upper()}{problem.sentence[1:]}"
            self.add_error(name if name in self.fields else None, sentence)


def _problems(content: dict[str, Any], rectangle: dict[str, Any]) -> list[Problem]:
    problems = Problems()
    try:
        given = read_small(FieldInput, content | {"placement": {"type": "coordinates", "value": rectangle}})
    except InvalidPayloadError as refused:
        return refused.problems
    check_field(given, "field", problems)
    return [Problem(each.path.removeprefix("field."), each.sentence) for each in problems.named]


class _Fields(forms.BaseFormSet):  # type: ignore[type-arg]  # Django's takes none where it runs
    def clean(self) -> None:
        """Refuse a name that a signer has twice on a document, beside it."""
        seen: set[tuple[Any, ...]] = set()
        for form in self.forms:
            entered = form.cleaned_data if not form.errors else {}
            if not entered or entered.get("DELETE"):
                continue
            name = (entered["signer"].pk, entered["document"].pk, entered["name"])
            if name in seen:
                form.add_error("name", _("This signer has another field of this name on the document."))
            seen.add(name)


FieldForms = forms.formset_factory(
    FieldForm, formset=_Fields, extra=0, can_delete=True, absolute_max=MOST, max_num=MOST
)
