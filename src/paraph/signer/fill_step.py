"""The step «Fill in» of the signing page, and the places of values on its pages."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.http import QueryDict

from paraph import words as catalog
from paraph.kernel.errors import DomainError
from paraph.kernel.places import expensive_request
from paraph.signature_requests.fields.entry import (
    LONGEST,
    EntriesRefusal,
    Entry,
    ShownValue,
    Values,
    bound,
    fields_of,
    judged,
    own_value,
    shown_values,
    values_of,
)
from paraph.signature_requests.fields.kinds import KINDS, Kind, Value, is_entered, shown_text
from paraph.signature_requests.localized import translated
from paraph.signature_requests.models import Field, Mode, Signer
from paraph.signer.documents import svg_box
from paraph.signer.fields import values_address
from paraph.words import Words, phrase

_LARGE = 300  # pages, beyond which a signing page takes a tenth of a second and more
_LABELLED = 30.0  # points: a narrower place has no room for a label

MARKER = "fill"  # in every form that has the step: what is not ticked in it is in no form


@dataclass(frozen=True)
class StepField:
    """A field in the step. ``typed``: the text in its input, and of a checkbox whether it is ticked. ``said``: the same
    as it will stand on the page. ``is_entered``: whether the signer sets it. ``is_open``: whether it has to be filled
    in yet. ``problem``: what is wrong with it."""

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


@dataclass(frozen=True)
class StepPage:
    """The fields of a page of a document, ``name`` where there are several."""

    name: str
    number: str
    fields: Sequence[StepField]


def input_name(field: Field) -> str:
    return f"field-{field.request_document.document_id}-{field.name}"


def fields_on(
    signer: Signer, documents: list[dict[str, Any]], locale: str, refusal: DomainError | None, *, may_fill: bool
) -> dict[str, Any]:
    """Put the places of fields into the ``documents`` that the page shows, and return what its template needs:
    ``has_fields``; ``fill``, the step with its ``pages`` and the fields that are ``open``, which have to be filled in
    yet or anew, None where there is nothing to fill in; and ``hides_entries``, whether
    others enter what the signer does not see. ``refusal``: why a signature was not taken."""
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
    step = fill if own and may_fill else None
    return {"has_fields": True, "fill": step, "hides_entries": hides}


def _pages(steps: Iterable[StepField], shown: dict[str, dict[str, Any]]) -> Iterable[StepPage]:
    several = len(shown) > 1
    for (document_id, number), found in groupby(
        steps, key=lambda step: (step.field.request_document.document_id, step.page)
    ):
        yield StepPage(shown[str(document_id)]["name"] if several else "", number, list(found))


def _step_field(signer: Signer, field: Field, typed: Values, locale: str, problem: str) -> StepField:
    words, page, own_locale = catalog.of("page", locale), str(field.page_number), signer.request.locale
    if not is_entered(field):
        value = own_value(signer, field, typed)
        text = value if isinstance(value, bool) else shown_text(field, value, own_locale)
        why = words["set_when_signing" if KINDS[field.type].known else "set_by_sender"]
        return StepField(field, text, _said(text), page, is_entered=False, is_open=False, rules=[why], problem="")
    entered = typed.get(field.pk, field.value)
    value, found = judged(field, entered, own_locale, read_in=locale)
    if found and entered and not problem:
        problem = found.sentence(locale)
    rules = list(_rules(field, words, locale))
    blank = False if KINDS[field.type].is_box else ""
    said = _said(entered if found else value if isinstance(value, bool) else shown_text(field, value, own_locale))
    return StepField(
        field, entered or blank, said, page, is_entered=True, is_open=bool(found), rules=rules, problem=problem
    )


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
        box = svg_box(field.x, top, field.width, field.height)
        if value and "values_picture" not in page:
            page["values_picture"] = values_address(signer, int(document["id"]), field.page_number, values)
        page.setdefault("fields", []).append(
            box
            | {
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
    """Return the value as it is read out."""
    if value is None or isinstance(value.value, bool):
        return "✓" if value and value.value else ""
    return shown_text(field, value.value, locale)


def form_entries(form: QueryDict, signer: Signer, *, is_final: bool) -> list[Entry]:
    """Return what a form says of the signer's fields; nothing where it has no such step. ``is_final``: whether the
    signer goes on from the step; else what is left empty in it takes nothing back that another device has kept.

    Raise ``DomainError("validation_error", …)`` for a text beyond :data:`LONGEST`.
    """
    if MARKER not in form:
        return []
    typed = values_of(signer)
    found = []
    for field in fields_of(signer.request_id):
        if field.signer_id != signer.pk or not is_entered(field):
            continue
        name = input_name(field)
        value: Value = name in form if KINDS[field.type].is_box else form.get(name, "")
        if isinstance(value, str) and len(value) > LONGEST:
            raise translated("validation_error", "field_text", field=name, most=LONGEST)
        if is_final or value or not typed.get(field.pk):
            found.append(Entry(field, value, "fields"))
    return found
