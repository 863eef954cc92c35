"""The fields that a signer fills in. On the signing page: the step "Fill in", and the places of values. For pages that
others build: ``/sign/{token}/fields``, where GET lists them and POST keeps what was entered until it is signed. For
both ``…/documents/{id}/pages/{number}-values.svg``: the values on a page as they will stand there."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page
from pydantic import Field as Description
from pydantic import SkipValidation

from paraph import words as catalog
from paraph.flow.signing.sign import enter_fields
from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.kernel.places import expensive_request, expensive_work
from paraph.pdf.typesetting.field_values import FieldPlace, FieldsContent, field_picture, fields_picture
from paraph.signature_requests.fields.entry import (
    ENTERED,
    LONGEST,
    EnteredField,
    EntriesRefusal,
    Entry,
    ShownValue,
    Values,
    bound,
    checked_entry,
    fields_of,
    measure,
    own_fields,
    own_value,
    read_entries,
    shown_values,
    values_of,
)
from paraph.signature_requests.fields.kinds import KINDS, Kind, Value, field_content, is_entered, shown_text
from paraph.signature_requests.links import token as token_of
from paraph.signature_requests.localized import translated
from paraph.signature_requests.marks import Body
from paraph.signature_requests.models import Field, Mode, Signer
from paraph.signer import answers, language
from paraph.signer.described import ABSENT, LANG, LOCALE, Answer, described
from paraph.signer.documents import document_of, svg_box
from paraph.signer.endpoints import ENTRIES, KEPT_SECONDS, VALUES, count, got, posted, require_reader
from paraph.words import Words, phrase

_LARGE = 300  # pages; with more, a signing page takes a tenth of a second or longer
_LABELLED = 30.0  # points: a narrower place has no room for a label
MARKER = "fill"  # in every form with the step: boxes that are not ticked are in no form


@dataclass(frozen=True)
class StepField:
    """A field in the step. ``typed``: the text in its input, and of a checkbox whether it is ticked. ``said``: the same
    as it will stand on the page. ``is_entered``: whether the signer sets it. ``is_open``: whether it is still to be
    filled in. ``problem``: what is wrong with it."""

    field: Field
    typed: Value
    said: str
    page: str
    is_entered: bool
    is_open: bool
    rules: Sequence[str]
    problem: str

    @property
    def kind(self) -> Kind:
        return KINDS[self.field.type]

    @property
    def input_name(self) -> str:
        return input_name(self.field)


def input_name(field: Field) -> str:
    return f"field-{field.request_document.document_id}-{field.name}"


def fields_on(
    signer: Signer, documents: list[dict[str, Any]], locale: str, refusal: DomainError | None, *, may_fill: bool
) -> dict[str, Any]:
    """Put the places of fields into the ``documents`` that the page shows, and return what its template needs:
    ``has_fields``; ``fill``, the step with its ``pages`` and the ``open`` fields, which are still to be filled in or
    corrected, None where there is nothing to fill in; and ``hides_entries``, whether others enter what the signer does
    not see. ``refusal``: why a signature was not taken."""
    shown = {document["id"]: document for document in documents}
    fields = [field for field in fields_of(signer.request_id) if str(field.request_document.document_id) in shown]
    if sum(len(each["pages"]) for each in documents) > _LARGE:
        expensive_request()
    if not fields:
        return {"has_fields": False}
    typed = values_of(signer)
    values = shown_values(signer, fields, typed)
    _place(signer, shown, fields, values, locale)
    own = [field for field in fields if field.signer_id == signer.pk]
    hides = signer.request.mode == Mode.PARALLEL and any(is_entered(each) for each in fields if each not in own)
    wrong = refusal.problems if isinstance(refusal, EntriesRefusal) else ()
    problems = {problem.field.pk: problem.sentence(locale) for problem in wrong}
    steps = [_step_field(signer, field, typed, locale, problems.get(field.pk, "")) for field in own]
    fill = {"pages": list(_pages(steps, shown)), "open": [step for step in steps if step.is_open]}
    return {"has_fields": True, "fill": fill if own and may_fill else None, "hides_entries": hides}


def _pages(steps: Iterable[StepField], shown: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the fields of each page, with its number and, where there are several documents, its document's name."""
    of_page = groupby(steps, key=lambda step: (str(step.field.request_document.document_id), step.page))
    for (document_id, number), found in of_page:
        name = shown[document_id]["name"] if len(shown) > 1 else ""
        yield {"name": name, "number": number, "fields": list(found)}


def _step_field(signer: Signer, field: Field, typed: Values, locale: str, problem: str) -> StepField:
    words, page, own_locale = catalog.of("page", locale), str(field.page_number), signer.request.locale
    if not is_entered(field):
        value = own_value(signer, field, typed)
        text = value if isinstance(value, bool) else shown_text(field, value, own_locale)
        why = words["set_when_signing" if KINDS[field.type].known else "set_by_sender"]
        return StepField(field, text, _said(text), page, is_entered=False, is_open=False, rules=[why], problem="")
    entered = typed.get(field.pk, field.value)
    value, found = checked_entry(field, entered, own_locale, read_in=locale)
    if found and entered and not problem:
        problem = found.sentence(locale)
    rules = list(_rules(field, words, locale))
    said = _said(entered if found else value if isinstance(value, bool) else shown_text(field, value, own_locale))
    entered = entered or ("" if not KINDS[field.type].is_box else False)
    return StepField(field, entered, said, page, is_entered=True, is_open=bool(found), rules=rules, problem=problem)


def _said(value: Value | None) -> str:
    return ("✓" if value is True else str(value)) if value else "—"


def _rules(field: Field, words: Words, locale: str) -> Iterable[str]:
    kind = KINDS[field.type]
    if most := field.max_length or kind.longest:
        yield phrase(words, "at_most_characters", most=most)
    yield from (words[rule] for rule in kind.rules)
    if field.minimum:
        yield bound(field, "at_least", field.minimum, locale)
    if field.maximum:
        yield bound(field, "at_most", field.maximum, locale)


def _place(
    signer: Signer, shown: dict[str, dict[str, Any]], fields: Sequence[Field], values: Sequence[ShownValue], locale: str
) -> None:
    """Put into each page the signer's own places, and those of others that have a value to be seen."""
    value_of = {each.field.pk: each for each in values}
    for field in fields:
        value = value_of.get(field.pk)
        is_own = field.signer_id == signer.pk
        if not is_own and value is None:
            continue
        document = shown[str(field.request_document.document_id)]
        page = document["pages"][field.page_number - 1]
        top = float(page["view_box"].split()[3]) - field.y - field.height
        if value and "values_picture" not in page:
            page["values_picture"] = values_address(signer, int(document["id"]), field.page_number, values)
        page.setdefault("fields", []).append(
            {
                **svg_box(field.x, top, field.width, field.height),
                "id": str(field.pk),
                "name": field.name,
                "label": field.label,
                "is_own": is_own,
                "is_labelled": field.width >= _LABELLED,
                "by": value.by.full_name if value and value.by else "",
                "localized": _localized(field, value, locale),
                "is_filled": value is not None,
            }
        )


def _localized(field: Field, value: ShownValue | None, locale: str) -> str:
    """Return the value as a screen reader reads it out."""
    if value is None or isinstance(value.value, bool):
        return "✓" if value and value.value else ""
    return shown_text(field, value.value, locale)


def form_entries(form: QueryDict, signer: Signer, *, is_final: bool) -> list[Entry]:
    """Return what a form says of the signer's fields; nothing where it does not have the step. ``is_final``: whether
    the signer goes on from the step; else a field left empty takes nothing back that another device has kept.

    Raise ``DomainError("validation_error", …)`` for a text beyond :data:`LONGEST`.
    """
    if MARKER not in form:
        return []
    typed, found = values_of(signer), []
    for field in filter(is_entered, own_fields(signer)):
        name = input_name(field)
        value: Value = name in form if KINDS[field.type].is_box else form.get(name, "")
        if isinstance(value, str) and len(value) > LONGEST:
            raise translated("validation_error", "field_text", field=name, most=LONGEST)
        if is_final or value or not typed.get(field.pk):
            found.append(Entry(field, value, "fields"))
    return found


_MOST_PICTURES = 20  # of one answer
_RULES = ("options", "max_length", "minimum", "maximum")
_WRONG = "What is wrong with what was entered, null where nothing is."
_PICTURE = "/sign/AAAAAAAAAEZ…/documents/12/pages/1-values.svg?v=5c0a2f1e"
EnteredFields = Annotated[list[EnteredField] | None, SkipValidation]  # read by read_entries()
ENTERED_IN = (
    f"{ENTERED} A number that can be read in two ways in the language of the body, such as `1.250` in German or "
    "`1,250` in English, is not taken: the answer asks which."
)


class FieldsBody(Body):
    fields: Annotated[list[EnteredField], SkipValidation] = Description(description=ENTERED_IN)
    locale: str | None = Description(None, description=f"{LOCALE} By default that of the page.")
    example = (
        "One field",
        {"fields": [{"document_id": 12, "name": "IBAN", "value": "DE02 1203 0000 0000 2020 51"}], "locale": "en"},
    )


class _OfField(Answer):
    document_id: int = Description(description="The document that the field stands on.")
    name: str = Description(description="The field's name.")


class KeptField(_OfField):
    message: str | None = Description(description=_WRONG)
    svg: str | None = Description(
        description="The value as it will stand on the page, of the first twenty; null where none will."
    )
    page: str | None = Description(
        description="Address of a picture of all values on its page; null where there are none."
    )


class KeptFields(Answer):
    fields: list[KeptField] = Description(description="Each that was sent, in its order.")
    example = (
        "A value that is right",
        {"fields": [{"document_id": 12, "name": "IBAN", "message": None, "svg": "<svg …>…</svg>", "page": _PICTURE}]},
    )


class FieldPlacement(Answer):
    page_number: int = Description(description="From 1.")
    x: float = Description(description="Of its left edge.")
    y: float = Description(description="Of its lower edge.")
    width: float = Description(description="Of the field.")
    height: float = Description(description="Of the field.")


class OwnField(_OfField):
    type: str = Description(description="What may be entered.", json_schema_extra={"enum": list(KINDS)})
    label: str = Description(description="What the signer reads.")
    required: bool = Description(description="Whether it has to be filled in; of a box, ticked.")
    read_only: bool = Description(description="`true` where the sender or the service sets the value.")
    value: Value | None = Description(description="As it was entered, right or wrong; the sender's where nothing was.")
    message: str | None = Description(description=_WRONG)
    placement: FieldPlacement = Description(
        description="Where it stands, in points from the bottom left of the page as it is shown."
    )
    options: list[str] = Description(ABSENT, description="Of a `choice`: what there is to choose from.")
    max_length: int = Description(ABSENT, description="Of a text: the most characters.")
    minimum: str = Description(ABSENT, description="Of a number or a date: the least, where there is one.")
    maximum: str = Description(ABSENT, description="Of a number or a date: the most, where there is one.")


class OwnFields(Answer):
    fields: list[OwnField] = Description(description="By document and page, on each from its top.")
    example = (
        "A field",
        {"fields": [{
            "document_id": 12, "name": "IBAN", "type": "text", "label": "Your IBAN", "required": True,
            "read_only": False, "value": None, "message": None,
            "placement": {"page_number": 1, "x": 72, "y": 540, "width": 160, "height": 18}, "max_length": 34,
        }]},
    )  # fmt: skip


@csrf_exempt
@gzip_page
def fields(request: HttpRequest, token: str) -> HttpResponseBase:
    return _enter(request, token) if request.method == "POST" else _list(request, token)


@got(allowed="GET, POST")
@described("GET /fields", "listFields", "The fields.", OwnFields, query=(LANG,))
def _list(request: HttpRequest, signer: Signer) -> HttpResponse:
    """List the fields to fill in.

    For signing pages of your own: the signer's fields by document and page, in the order of reading, each with what was
    entered so far and what is wrong with it. Empty for a signer without fields. In `sequential` mode it may be read
    before the signer's turn.
    """
    require_reader(signer)
    locale, typed, own = language.of_answer(request, signer), values_of(signer), own_fields(signer)
    measure(own, typed, signer.request.locale)
    listed = [_listed(signer, each, typed, locale) for each in own]
    return answers.answer(OwnFields.model_construct(fields=listed), 200, locale)


@posted
@described("POST /fields", "enterFields", "Each value as it will look.", KeptFields, body=FieldsBody)
def _enter(request: HttpRequest, signer: Signer, body: dict[str, Any]) -> KeptFields:
    """Keep what was entered.

    Keeps values while the signer may sign, right or wrong, encrypted, so that nothing is lost by a reload or on another
    device; with the end of the request they are deleted, unless they were signed. What is wrong with a value is told in
    `message`, and refused at the signature. Unknown names, values that the sender or the service sets, and texts of
    more than 4,000 characters are refused with their path, and then nothing is kept. After 240 in a minute: 429 with
    `Retry-After`.
    """
    entries = read_entries(body.get("fields"), own_fields(signer))
    count(ENTRIES, signer)
    typed = enter_fields(signer, entries)
    locale = language.of_answer(request, signer, body.get("locale"))
    return KeptFields.model_construct(fields=list(_kept(signer, entries, typed, locale)))


def _kept(signer: Signer, entries: Sequence[Entry], typed: Values, locale: str) -> Iterator[KeptField]:
    values = shown_values(signer, fields_of(signer.request_id), typed)
    for number, (field, _, _) in enumerate(entries):
        document_id, message = field.request_document.document_id, _message(signer, field, typed, locale)
        value = own_value(signer, field, typed) if number < _MOST_PICTURES and not message else None
        content = None if value is None else field_content(field, value, signer.request.locale)
        yield KeptField.model_construct(
            document_id=document_id,
            name=field.name,
            message=message,
            svg=field_picture(content).decode() if content else None,
            page=values_address(signer, document_id, field.page_number, values) or None,
        )


def _message(signer: Signer, field: Field, typed: Values, locale: str) -> str | None:
    """Say what is wrong with what was entered; None where nothing is, or nothing was entered yet."""
    if not is_entered(field) or not typed.get(field.pk, field.value):
        return None
    problem = checked_entry(field, typed.get(field.pk, field.value), signer.request.locale, read_in=locale)[1]
    return problem.sentence(locale) if problem else None


def _listed(signer: Signer, field: Field, typed: Values, locale: str) -> OwnField:
    """Return a field with its value as it was entered, else the sender's, else null."""
    placement = {name: getattr(field, name) for name in FieldPlacement.model_fields}
    return OwnField.model_construct(
        document_id=field.request_document.document_id,
        read_only=not is_entered(field),
        value=typed.get(field.pk, field.value) if is_entered(field) else own_value(signer, field, typed),
        message=_message(signer, field, typed, locale),
        placement=FieldPlacement.model_construct(**placement),
        **{name: getattr(field, name) for name in ("name", "type", "label", "required")},
        **{name: rule for name in _RULES if (rule := getattr(field, name)) not in (None, "")},
    )


@gzip_page
@got(kept=KEPT_SECONDS, media="image/svg+xml")
@described("GET /documents/{document_id}/pages/{number}-values.svg", "drawValues", "The values.", "image/svg+xml")
def values_image(_request: HttpRequest, signer: Signer, document_id: int, number: int) -> bytes:
    """Show the values on a page.

    The values as they will stand on the page, as a picture of its size: the signer's own, what the sender has set, and
    in `sequential` mode what those before have signed. 404 where there are none. Browsers may keep it for 15 minutes.
    The address that `page` of the answer to what was entered names changes with the values.
    """
    require_reader(signer)
    count(VALUES, signer)
    with expensive_work():
        pages = document_of(signer, document_id).pages
        fields = [field for field in fields_of(signer.request_id) if _is_on(field, document_id, number)]
        values = shown_values(signer, fields, values_of(signer))
        if not values:
            raise DomainError("not_found", "There are no such values.")
        width, height = pages[number - 1]
        places = [
            FieldPlace(at.x, height - at.y - at.height, field_content(at, value, signer.request.locale))
            for at, value in ((each.field, each.value) for each in values)
        ]
        return fields_picture(FieldsContent(width, height, places))


def _is_on(field: Field, document_id: int, number: int) -> bool:
    return field.request_document.document_id == document_id and field.page_number == number


def values_address(signer: Signer, document_id: int, number: int, values: Iterable[ShownValue]) -> str:
    """Return the address of the picture, "" where the page has none of the ``values``. Its last part changes with the
    values, but reveals none of them."""
    shown = [each for each in values if _is_on(each.field, document_id, number)]
    if not shown:
        return ""
    facts = (f"{each.field.pk} {each.value}".encode("utf-8", "replace") for each in shown)
    version = tokens.keyed_hash(bytes(signer.token_salt), *facts).hex()[:8]
    return f"/sign/{token_of(signer)}/documents/{document_id}/pages/{number}-values.svg?v={version}"
