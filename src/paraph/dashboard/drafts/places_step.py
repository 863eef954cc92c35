"""``/app/{o}/drafts/{id}/places``: where each signer signs, and which fields they fill in, on pictures of the pages;
and the pictures of signatures and values, drawn by the code that draws the sealed ones."""

import json
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from paraph.dashboard.decorators import actor, limits_stamps, member_page, scope, see_other
from paraph.dashboard.documents import drawn
from paraph.dashboard.drafts.drafts import draft_page, show_step, with_removed
from paraph.dashboard.drafts.place_forms import RECTANGLE, Choices, FieldForm, FieldForms, StampForm, StampForms, cards
from paraph.documents.models import Document
from paraph.drafts import editing
from paraph.drafts.models import Draft, DraftSigner, Json, Placed, Step
from paraph.drafts.review import missing
from paraph.drafts.tags import (
    Target,
    offers_in,
    place_by_tags,
    signature_lines_of,
    sizes_for,
    tags_of,
    take_back,
    wanted,
)
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.pdf.typesetting.appearances import StampContent, stamp_svg
from paraph.pdf.typesetting.field_values import FieldContent, FieldPlace, FieldsContent, fields_picture
from paraph.pdf.typesetting.glyph_fallback import initials_of
from paraph.pdf.untrusted.page_reading import FoundTag
from paraph.request_templates.saving import keep_places
from paraph.signature_requests.fields.input import MOST_FIELDS, SMALLEST_SIDE, FieldInput
from paraph.signature_requests.fields.kinds import KINDS, PALETTE, Kind
from paraph.signature_requests.input import MOST_STAMPS
from paraph.signature_requests.placing import known_content
from paraph.signature_requests.values import HEIGHTS, WIDTHS, InvalidValueError
from paraph.tenants.limits import allowance
from paraph.tenants.members import Right
from paraph.tenants.models import BrandingProfile, Member
from paraph.tenants.scope import scoped

Stamps: TypeAlias = "forms.BaseFormSet[StampForm]"
Fields: TypeAlias = "forms.BaseFormSet[FieldForm]"
_MOST_PAGES = 200  # of each document
_COLOURS = 8  # that the stylesheet has
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
    entered. "Continue" is held back while a signer or a document has no place for a signature.

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
        return _to_next_step(request, member, draft)
    return see_other("draft_places", member.organization_id, draft.pk)


def _to_next_step(request: HttpRequest, member: Member, draft: Draft) -> HttpResponse:
    """Go on to the review; places of a template are saved in the template."""
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
    """Return a type of field as the palette has it. ``has``: the names of its properties in the form."""
    has = {"value": "ticked"} if kind.is_box else {}
    asked = " ".join(has.get(name, name) for name in kind.attributes)
    return {"kind": kind, "size": "{:g} {:g}".format(*kind.drawn), "has": asked}


def sheets(draft: Draft, *, real: bool = False, with_targets: bool = False) -> list[dict[str, Any]]:
    """Return each document with its first pages and those with stamps or fields; ``real``: only pages with stamps or
    fields, and whose values are known on each. Boxes are in points from the top left, as in the pictures of the pages.
    ``with_targets``: each page with what stamps snap to, as JSON: ``[["tag", "line" for a signature, or "rule" of which
    nothing says what it is for, its text, x, y, width, height, width and height of a stamp that has room there, what is
    asked there and of whom], …]``, from the bottom left."""
    places = draft.places()
    return [
        _file(document, [at for at in places if at.document == document], draft, real=real, with_targets=with_targets)
        for document in draft.files()
    ]


def palette(draft: Draft) -> list[dict[str, Any]]:
    """Return those who sign, with their names, initials and colours."""
    return [
        {"ref": each.ref, "name": name, "initials": initials_of(name), "colour": each.position % _COLOURS}
        for each in draft.signing
        for name in [each.name(draft.locale)]
    ]


def _file(document: Document, places: list[Placed], draft: Draft, *, real: bool, with_targets: bool) -> dict[str, Any]:
    boxes: dict[int, list[dict[str, Any]]] = {}
    for at in places:
        if at.page_number <= len(document.pages):
            box = _box(at)
            if at.field:
                box["known"] = real and content_of(at, draft.locale) is not None
            boxes.setdefault(at.page_number, []).append(box)
    numbers = set(boxes) if real else {*boxes, *range(1, min(len(document.pages), _MOST_PAGES) + 1)}
    targets = _targets(document, draft) if with_targets else {}
    pages = [
        {
            "number": number,
            "width": document.pages[number - 1][0],
            "height": document.pages[number - 1][1],
            "boxes": boxes.get(number, []),
            "values_of": sorted({box["signer"] for box in boxes.get(number, []) if box.get("known")}),
            "targets": json.dumps(targets[number]) if number in targets else "",
        }
        for number in sorted(numbers)
    ]
    return {"document": document, "pages": pages, "page_count": len(document.pages)}


def _targets(document: Document, draft: Draft) -> dict[int, list[list[Any]]]:
    lines = signature_lines_of(document)
    offers = {
        name: {"signer": each.signer.ref, "type": each.kind.type if each.kind else "", "name": each.name}
        for name, each in offers_in(draft).items()
    }
    asked = {line: {"signer": signer.ref, "type": "", "name": ""} for line, signer, _ in wanted(lines, draft.signing)}
    named: list[tuple[str, str, Target]] = [("tag", tag, at) for tag, at in tags_of(document).items()]
    named += [("line" if line in asked or line.is_for_signature else "rule", line.label, line) for line in lines]
    targets: dict[int, list[list[Any]]] = {}
    for (kind, name, at), size in zip(named, sizes_for(document, [at for _, _, at in named]), strict=True):
        offer = offers.get(name) if isinstance(at, FoundTag) else asked.get(at)
        place = [kind, name, *(round(each, 2) for each in (at.x, at.y, at.width, at.height)), *size]
        targets.setdefault(at.page_number, []).append([*place, offer] if offer else place)
    return targets


def _box(at: Placed) -> dict[str, Any]:
    """Return the box of a stamp, or of a field, which says what it asks for, as large as its text will be."""
    signer, top = at.signer, at.document.pages[at.page_number - 1][1] - at.y - at.height
    box = {"x": at.x, "y": top, "width": at.width, "height": at.height}
    box |= {"text_x": at.x + at.width / 2, "colour": signer.position % _COLOURS, "signer": signer.ref}
    if at.field is None:
        picture = {"columns": round(at.width), "rows": round(at.height)}
        name = signer.first_name or str(signer.position + 1)
        return {**box, **picture, "text_y": top + at.height / 2 + 5, "text_size": 15, "name": name}
    size = min(float(at.field.get("font_size", 10)), at.height * 0.75)
    middle = top + min(at.height / 2, size) + size * 0.35
    name = at.field.get("label") or at.field["name"]
    return {**box, "text_y": middle, "text_size": size, "name": name, "field": at.field["type"]}


@member_page(Right.SEND)
@limits_stamps
def stamp_picture(_: HttpRequest, member: Member, draft_id: int, signer_id: int, **size: int) -> HttpResponse:
    """``/app/{o}/drafts/{id}/signers/{signer}/stamp-{width}x{height}.svg``, with time and number of the request as an
    example. Sizes are whole points, because no eye sees the difference and browsers then keep fewer pictures."""
    draft, signer = _found(member, draft_id, signer_id)
    width, height = size["width"], size["height"]
    if not (WIDTHS[0] <= width <= WIDTHS[1] and HEIGHTS[0] <= height <= HEIGHTS[1]):
        raise Http404
    profile = draft.content.get("branding_profile_id")
    content = StampContent(
        width,
        height,
        signer.name(draft.locale),
        clock.now(),
        request_id=draft.pk,
        locale=draft.locale,
        address=signer.email,
        signature_only=bool(profile) and BrandingProfile.objects.filter(pk=profile, signature_only=True).exists(),
    )
    return drawn(partial(stamp_svg, content), "image/svg+xml")


@member_page(Right.SEND)
@limits_stamps
def values_picture(_: HttpRequest, member: Member, draft_id: int, signer_id: int, **page: int) -> HttpResponse:
    """``/app/{o}/drafts/{id}/signers/{signer}/documents/{document}/values-{number}.svg``: what is known of the values,
    as they will stand there. Browsers do not keep the picture, which changes with each value."""
    draft, signer = _found(member, draft_id, signer_id)
    document = next((each for each in draft.files() if each.pk == page["document_id"]), None)
    if document is None or not 1 <= page["number"] <= len(document.pages):
        raise Http404
    width, height = document.pages[page["number"] - 1]
    here = (document, signer, page["number"])
    fields = [at for at in draft.places() if at.field and (at.document, at.signer, at.page_number) == here]
    places = [
        FieldPlace(at.x, height - at.y - at.height, content)
        for at in fields
        if (content := content_of(at, draft.locale)) is not None
    ]
    return HttpResponse(fields_picture(FieldsContent(width, height, places)), content_type="image/svg+xml")


def _found(member: Member, draft_id: int, signer_id: int) -> tuple[Draft, DraftSigner]:
    draft = get_object_or_404(scoped(Draft, scope(member)), pk=draft_id)
    signer = next((each for each in draft.signers if each.ref == str(signer_id)), None)
    if signer is None:
        raise Http404
    return draft, signer


class _Person(NamedTuple):
    full_name: str
    email: str
    signed_on: str


def content_of(at: Placed, locale: str) -> FieldContent | None:
    """Return what is drawn for the field today; None where nothing is known yet, or where what is known is refused.
    ``locale``: of the draft."""
    signer = _Person(at.signer.name(locale), at.signer.email, clock.now().date().isoformat())
    try:
        content = known_content(FieldInput.model_construct(**at.field or {}), at.width, at.height, signer, locale)
    except InvalidValueError:
        return None
    return None if content is None or content.is_blank else content
