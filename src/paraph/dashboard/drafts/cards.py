"""The cards of stamps and fields in the list beside the pages.

One card of a kind is rendered with marks in the place of values, and all others are that text with their values:
Django takes 20 ms for a card of a field, and a draft may have a thousand.
"""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

_MOST_WITH_ERRORS = 20  # that are rendered one by one: who has mended these sees the next ones
_NUMBER = "\ue000number\ue001"
_PREFIX = "__prefix__"


def cards(rows: "forms.BaseFormSet[Any]", template: str, *, several: bool) -> Iterator[SafeString]:
    """Yield the card of each form by the ``template``. ``several``: whether there are several documents."""
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
