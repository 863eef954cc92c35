"""The forms of stamps and fields: whose each is, where it stands, in points of the page as a reader sees it, origin at
the bottom left, and what a field asks; with their cards in the list beside the pages.

One card of a kind is rendered with marks in the place of values, and all others are that text with their values:
Django takes 20 ms for a card of a field, and a draft may have a thousand.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from paraph.documents.models import Document
from paraph.drafts.editing import STAMP_SIZE
from paraph.drafts.models import Draft, DraftSigner, Json, Placed
from paraph.signature_requests.fields.input import FONT_SIZES, SMALLEST_SIDE, FieldInput, check_field
from paraph.signature_requests.fields.kinds import KINDS, LONGEST_TEXT
from paraph.signature_requests.input import Assignment, CoordinatesStamp, DocumentInput, Rectangle
from paraph.signature_requests.models import LONGEST_FIELD_NAME, LONGEST_LABEL
from paraph.signature_requests.payload import read_small
from paraph.signature_requests.placing import place
from paraph.signature_requests.problems import InvalidPayloadError, Problem, Problems
from paraph.signature_requests.values import HEIGHTS, WIDTHS

MOST = 5_000  # of a draft: what the largest plan allows is refused by the payload's own limits
RECTANGLE = ("x", "y", "width", "height")
_MOST_WITH_ERRORS = 20  # cards with errors that are shown at a time: once they are mended, the next follow
_NUMBER = "\ue000number\ue001"
_PREFIX = "__prefix__"


@dataclass(frozen=True)
class Choices:
    """The signers of a draft by ref, and its documents by id, each in their order: read once for all forms."""

    signers: dict[str, DraftSigner]
    documents: dict[str, Document]

    @classmethod
    def of(cls, draft: Draft) -> "Choices":
        return cls({each.ref: each for each in draft.signing}, {str(each.pk): each for each in draft.files()})


class PlaceForm(forms.Form):
    signer = forms.TypedChoiceField(label=gettext_lazy("Signer"))
    document = forms.TypedChoiceField(label=gettext_lazy("Document"))
    page = forms.IntegerField(label=gettext_lazy("Page"), min_value=1, max_value=100_000)
    x = forms.FloatField(label=gettext_lazy("X"))
    y = forms.FloatField(label=gettext_lazy("Y"))
    width = forms.FloatField(label=gettext_lazy("Width"))
    height = forms.FloatField(label=gettext_lazy("Height"))

    def __init__(self, *arguments: Any, choices: Choices, **more: Any) -> None:
        super().__init__(*arguments, **more)
        signer: Any = self.fields["signer"]
        document: Any = self.fields["document"]
        signer.choices = [(ref, each.label) for ref, each in choices.signers.items()]
        signer.coerce = partial(_one_of, choices.signers)
        documents = enumerate(choices.documents.items(), start=1)
        document.choices = [(pk, f"{number}. {each.name}") for number, (pk, each) in documents]
        document.coerce = partial(_one_of, choices.documents)
        for name in RECTANGLE:
            self.fields[name].widget.attrs["step"] = "any"

    def rectangle(self) -> Json:
        """Return the rectangle as the payload has it."""
        entered = self.cleaned_data
        return {"page_number": entered["page"], **{name: entered[name] for name in RECTANGLE}}

    def placed(self) -> Placed:
        return Placed(self.cleaned_data["document"], self.cleaned_data["signer"], **self.rectangle())

    def refuse_misfits(self) -> None:
        """Add an error to the number that takes the stamp or field off its page, saying what it may be."""
        entered = self.cleaned_data
        pages = entered["document"].pages
        if entered["page"] > len(pages):
            sentence = ngettext("The document has %(count)d page.", "The document has %(count)d pages.", len(pages))
            self.add_error("page", sentence % {"count": len(pages)})
            return
        for length, start, room in zip(("width", "height"), ("x", "y"), pages[entered["page"] - 1], strict=True):
            most = room - entered[length]
            if most < 0:
                sentence = _("At most %(most)s: the page has no room for more.")
                self.add_error(length, sentence % {"most": f"{room:.2f}"})
            elif not 0 <= entered[start] <= most:
                sentence = _("From 0 to %(most)s: beyond that, it leaves the page.")
                self.add_error(start, sentence % {"most": f"{int(most * 100) / 100:.2f}"})


def _one_of(known: dict[str, Any], key: str) -> Any:
    if key not in known:
        raise ValueError(key)
    return known[key]


class StampForm(PlaceForm):
    """The form of a stamp. Whether it fits its page is checked by the code that checks the API's stamps."""

    width = forms.FloatField(
        label=gettext_lazy("Width"), min_value=WIDTHS[0], max_value=WIDTHS[1], initial=STAMP_SIZE[0]
    )
    height = forms.FloatField(
        label=gettext_lazy("Height"), min_value=HEIGHTS[0], max_value=HEIGHTS[1], initial=STAMP_SIZE[1]
    )

    def clean(self) -> dict[str, Any]:
        entered, problems = self.cleaned_data, Problems()
        if self.errors:
            return entered
        stamp = CoordinatesStamp(type="coordinates", value=Rectangle(**self.rectangle()))
        assigned = Assignment(signer_ref=entered["signer"].ref, stamps=[stamp])
        place(DocumentInput(id=entered["document"].pk, signers=[assigned]), "", entered["document"], problems)
        if problems:
            self.refuse_misfits()
            if not self.errors:
                self.add_error("x", _("The signature does not fit on the page."))
        return entered


StampForms = forms.formset_factory(StampForm, extra=0, can_delete=True, absolute_max=MOST, max_num=MOST)


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
    ticked = forms.BooleanField(label=gettext_lazy("Ticked from the start"), required=False)
    read_only = forms.BooleanField(label=gettext_lazy("Signers cannot change it"), required=False)
    max_length = forms.IntegerField(
        label=gettext_lazy("Maximum length"), min_value=1, max_value=LONGEST_TEXT, required=False
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

    def placed(self) -> Placed:
        placed = super().placed()
        placed.field = self.content()
        return placed

    def content(self) -> dict[str, Any]:
        """Return the field as the payload has it, without its placement and without what equals the default."""
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
            return entered["ticked"]
        if name in ("minimum", "maximum") and value and KINDS[entered["type"]].is_number:
            with suppress(ValueError):
                return float(value)
        return value

    def _check_content(self) -> None:
        """Check the content by the code that checks the API's, and add its sentences to the fields of the form."""
        for problem in _problems(self.content(), self.rectangle()):
            name = problem.path.partition(".")[0].partition("[")[0]
            sentence = f"{problem.sentence[:1].upper()}{problem.sentence[1:]}"
            if name == "value" and KINDS[self.cleaned_data["type"]].is_box:
                name = "ticked"
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
        """Refuse a name that a signer has twice on a document, with the error at its second field."""
        seen: set[tuple[Any, ...]] = set()
        for form in self.forms:
            entered = form.cleaned_data if not form.errors else {}
            if not entered or entered.get("DELETE"):
                continue
            name = (entered["signer"], entered["document"], entered["name"])
            if name in seen:
                form.add_error("name", _("This signer has another field of this name on the document."))
            seen.add(name)


FieldForms = forms.formset_factory(
    FieldForm, formset=_Fields, extra=0, can_delete=True, absolute_max=MOST, max_num=MOST
)


def cards(rows: "forms.BaseFormSet[Any]", template: str, *, several: bool) -> Iterator[SafeString]:
    """Yield the card of each form, rendered with the ``template``. ``several``: whether there are several documents."""
    pattern, left = "", _MOST_WITH_ERRORS
    for index, form in enumerate(rows):
        if form.is_bound and form.errors and left > 0:
            left -= 1
            yield _rendered(template, form, index + 1, several=several)
        else:
            pattern = pattern or _pattern(rows, template, several=several)
            yield _filled(pattern, form, index)


def _rendered(template: str, form: forms.Form, number: object, *, several: bool) -> SafeString:
    return render_to_string(template, {"form": form, "number": number, "several": several})


def _pattern(rows: "forms.BaseFormSet[Any]", template: str, *, several: bool) -> str:
    marks = {name: _mark(name) for name, field in rows.empty_form.fields.items() if not _is_box(field)}
    boxes = dict.fromkeys(set(rows.empty_form.fields) - set(marks), False)
    prefix = rows.add_prefix(_PREFIX)
    form = rows.form(initial=marks | boxes, prefix=prefix, use_required_attribute=False, **rows.form_kwargs)
    return _rendered(template, form, _NUMBER, several=several)


def _filled(pattern: str, form: forms.Form, index: int) -> SafeString:
    text, kind = pattern, str(form.prefix).partition("-")[0]
    for name, field in form.fields.items():
        value = field.widget.format_value(form[name].value())
        if _is_box(field):
            if form[name].value():
                text = text.replace(f'-{_PREFIX}-{name}"', f'-{_PREFIX}-{name}" checked', 1)
        elif isinstance(field.widget, forms.Select) and f' value="{_mark(name)}"' not in text:
            before, opening, rest = text.partition(f'<select name="{kind}-{_PREFIX}-{name}"')
            options, closing, after = rest.partition("</select>")
            option = f'<option value="{conditional_escape(value[0] if value else "")}"'
            text = f"{before}{opening}{options.replace(option, f'{option} selected', 1)}{closing}{after}"
        else:
            if not value:
                text = text.replace(f' value="{_mark(name)}"', "")
            shown = "" if value is None else conditional_escape(value if isinstance(value, str) else value[0])
            text = text.replace(_mark(name), shown)
    numbered = text.replace(f"{_NUMBER}-1", str(index)).replace(_NUMBER, str(index + 1))
    return mark_safe(numbered.replace(_PREFIX, str(index)))  # noqa: S308  rendered by a template; values are escaped


def _mark(name: str) -> str:
    return f"\ue000{name}\ue001"


def _is_box(field: forms.Field) -> bool:
    return isinstance(field.widget, forms.CheckboxInput)
