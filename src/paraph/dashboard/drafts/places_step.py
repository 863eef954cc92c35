"""``/app/{o}/drafts/{id}/places``: where each signer's signatures go, and what they fill in where; with the cards of
stamps and fields in the list beside the pages.

One card of a kind is rendered with marks in the place of values, and all others are that text with their values:
Django takes 20 ms for a card of a field, and a draft may have a thousand.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

from paraph.dashboard.decorators import actor, scope, see_other
from paraph.dashboard.drafts.draft_page import draft_page, show_step, with_removed
from paraph.dashboard.drafts.place_forms import RECTANGLE, Choices, FieldForm, FieldForms, StampForm, StampForms
from paraph.dashboard.drafts.sheets import palette, sheets
from paraph.drafts import editing
from paraph.drafts.models import Draft, Json, Placed, Step
from paraph.drafts.refusals import missing
from paraph.drafts.tags import place_by_tags, take_back
from paraph.kernel.errors import DomainError
from paraph.request_templates.saving import keep_places
from paraph.signature_requests.fields.input import MOST_FIELDS, SMALLEST_SIDE
from paraph.signature_requests.fields.kinds import KINDS, PALETTE, Kind
from paraph.signature_requests.input import MOST_STAMPS
from paraph.signature_requests.values import HEIGHTS, WIDTHS
from paraph.tenants.limits import allowance
from paraph.tenants.models import Member

Stamps: TypeAlias = "forms.BaseFormSet[StampForm]"
Fields: TypeAlias = "forms.BaseFormSet[FieldForm]"
_LIMITS = {
    "widths": "{:g} {:g}".format(*WIDTHS),
    "heights": "{:g} {:g}".format(*HEIGHTS),
    "size": "{:g} {:g}".format(*editing.STAMP_SIZE),
    "most": MOST_STAMPS,
    "smallest": f"{SMALLEST_SIDE:g}",
    "most_fields": MOST_FIELDS,
}


@draft_page(Step.PLACEMENTS)
def places_step(request: HttpRequest, member: Member, draft: Draft) -> HttpResponse:
    """Buttons: "Add signature" and one for each type of field; "Remove" at each; "Continue". Each saves what is
    entered. "Continue" is held back while a signer or a document has no place of a signature.

    With scripts, the form becomes the editor of ``static/dashboard/placements.js``, which saves it after each change
    with the action "save"."""
    if not (draft.content["documents"] and draft.signers):
        lacking = "draft_signers" if draft.content["documents"] else "draft_documents"
        return see_other(lacking, member.organization_id, draft.pk)
    if request.method != "POST":
        on_lines = len(place_by_tags(draft))
        return _page(request, member, draft, _unbound(draft), on_lines=on_lines)
    if request.POST.get("action") == "take-back":
        take_back(draft)
        return see_other("draft_places", member.organization_id, draft.pk)
    stamps, fields = _bound(request, draft)
    if not (stamps.is_valid() & (fields is None or fields.is_valid())):
        return _page(request, member, draft, (stamps, fields or _unbound(draft)[1]))
    asked = [at for at in draft.places() if at.field] if fields is None else _kept(fields)
    editing.replace_places(draft, [*_kept(stamps), *asked])
    if "initials" in request.POST and allowance(member.organization.plan).initials:
        draft.content["initials_required"] = request.POST["initials"] == "on"
        draft.save(update_fields=["content"])
    pressed = request.POST.get("action", "next")
    if pressed == "add":
        editing.add_stamp(draft)
    elif kind := KINDS.get(pressed.removeprefix("add-")):
        editing.add_field(draft, kind)
    if pressed == "next" and not {"remove", "remove-field"} & set(request.POST):
        return _onward(request, member, draft)
    return see_other("draft_places", member.organization_id, draft.pk)


def _onward(request: HttpRequest, member: Member, draft: Draft) -> HttpResponse:
    """Go on to the review; places of a template are kept by it."""
    if held_back := missing(draft).of(Step.PLACEMENTS):
        return _page(request, member, draft, _unbound(draft), held_back=held_back)
    if not draft.of_template:
        return see_other("draft_review", member.organization_id, draft.pk)
    try:
        template = keep_places(scope(member), draft, actor(request, member))
    except DomainError as refused:
        messages.error(request, refused.message)
        return see_other("draft_places", member.organization_id, draft.pk)
    return see_other("template", member.organization_id, template.pk)


def _unbound(draft: Draft) -> tuple[Stamps, Fields]:
    places = draft.places()
    stamps = [_place(at) for at in places if at.field is None]
    fields = [_place(at) | _entered(at.field) for at in places if at.field]
    kwargs = {"choices": Choices.of(draft)}
    return (
        StampForms(initial=stamps, prefix="stamp", form_kwargs=kwargs),
        FieldForms(initial=fields, prefix="field", form_kwargs=kwargs),
    )


def _place(at: Placed) -> Json:
    whose = {"document": at.document.pk, "signer": at.signer.ref, "page": at.page_number}
    return whose | {name: f"{getattr(at, name):.10g}" for name in RECTANGLE}


def _entered(content: Json) -> Json:
    """Return the content of a field as its form has it."""
    entered: Json = {"required": True} | content
    if "options" in content:
        entered["options"] = "\n".join(content["options"])
    if isinstance(content.get("value"), bool):
        entered |= {"value": "", "ticked": content["value"]}
    return entered | {name: f"{each:.15g}" for name, each in content.items() if type(each) in (int, float)}


def _bound(request: HttpRequest, draft: Draft) -> "tuple[Stamps, Fields | None]":
    """Return the forms as they were entered; None for the fields where nothing is said of them, which then stay as they
    are."""
    content = with_removed(request.POST, **{"remove": "stamp", "remove-field": "field"})
    kwargs = {"choices": Choices.of(draft)}
    stamps = StampForms(content, prefix="stamp", form_kwargs=kwargs)
    if "field-TOTAL_FORMS" not in content:
        return stamps, None
    return stamps, FieldForms(content, prefix="field", form_kwargs=kwargs)


def _kept(rows: "forms.BaseFormSet[Any]") -> list[Placed]:
    return [form.placed() for form in rows if not form.cleaned_data.get("DELETE")]


def _page(request: HttpRequest, member: Member, draft: Draft, rows: tuple[Stamps, Fields], **told: Any) -> HttpResponse:
    """Return the page. ``told``: what was placed, or is missing, and is said above it."""
    lacking = missing(draft)
    files = [file | {"lacks": file["document"].pk in lacking.documents} for file in sheets(draft, with_targets=True)]
    content = {
        "rows": rows[0],
        "fields": rows[1],
        "cards": [
            *cards(rows[0], "dashboard/drafts/stamp.html", several=len(files) > 1),
            *cards(rows[1], "dashboard/drafts/field.html", several=len(files) > 1),
        ],
        "files": files,
        "several": len(files) > 1,
        "signers": [each | {"lacks": each["ref"] in lacking.signers} for each in palette(draft)],
        "kinds": [_offered(KINDS[name]) for name in PALETTE],
        "more_kinds": [_offered(kind) for name, kind in KINDS.items() if name not in PALETTE],
        "initials": allowance(member.organization.plan).initials,
        "limits": _LIMITS,
        **told,
    }
    return show_step(request, member, draft, Step.PLACEMENTS, content, status=422 if "held_back" in told else 0)


def _offered(kind: Kind) -> Json:
    """Return a type of field as the palette has it. ``has``: the parts of its properties."""
    has = {"value": "ticked"} if kind.is_box else {}
    asked = " ".join(has.get(name, name) for name in kind.attributes)
    return {"kind": kind, "size": "{:g} {:g}".format(*kind.drawn), "has": asked}


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
