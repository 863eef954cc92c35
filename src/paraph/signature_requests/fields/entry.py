"""What signers enter into their fields, given in a body as ``[{"document_id", "name", "value"}]``: how it is read and
checked, what is wrong with it in the words of their page, and how it is kept. It is encrypted for one signer alone, so
that no other row can hold it. Before the signature the values are kept as they were entered, so that nothing is lost;
with the signature, as they were signed."""

import dataclasses
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Annotated, Any, NamedTuple

from django.conf import settings
from pydantic import BaseModel, WithJsonSchema
from pydantic import Field as Describe

from paraph import words as catalog
from paraph.kernel.places import expensive_request
from paraph.pdf.typesetting.field_values import fit, fits
from paraph.signature_requests.fields.kinds import (
    KINDS,
    InvalidEntryError,
    Value,
    entered,
    field_content,
    is_blank,
    is_entered,
    known_value,
    plain_number,
    shown_text,
    two_readings,
)
from paraph.signature_requests.localized import TranslatedRefusal, translated
from paraph.signature_requests.models import Field, Mode, SignatureRequest, Signer, SignerStatus

PURPOSE = "fields"

Values = dict[int, Value]
"""Values by the id of their field."""

_MANY = 300  # fields and options; more take a tenth of a second or longer


def values_of(signer: Signer) -> Values:
    """Return what the signer entered, or signed; empty where there is nothing."""
    return {} if signer.fields_encrypted is None else decrypted(signer.pk, bytes(signer.fields_encrypted))


def decrypted(signer_id: int, encrypted: bytes) -> Values:
    """Return the values that the row of a signer holds."""
    content = settings.SECRETS.decrypt(PURPOSE, encrypted, context(signer_id))
    return {int(field_id): value for field_id, value in json.loads(content).items()}


def write(signer: Signer, values: Values) -> None:
    """Set ``fields_encrypted``, None for no values. Does not save the row."""
    content = json.dumps(values, separators=(",", ":")).encode()
    signer.fields_encrypted = settings.SECRETS.encrypt(PURPOSE, content, context(signer.pk)) if values else None


def context(signer_id: int) -> bytes:
    """Return the context for which the values of a signer are encrypted."""
    return f"fields of signer {signer_id}".encode()


def forget_entries(request: SignatureRequest) -> None:
    """Forget what signers entered into a request that ends before they signed. The caller ends it in the same
    transaction, under its row lock."""
    unsigned = Signer.objects.filter(request=request, fields_encrypted__isnull=False).exclude(
        status=SignerStatus.SIGNED
    )
    unsigned.update(fields_encrypted=None)


def fields_of(request_id: int) -> list[Field]:
    """Return the fields of all signers, by document and page, from the top of each, with ``request_document``. Where
    they are many, whatever a web process does with them is expensive work (:mod:`paraph.kernel.places`)."""
    rows = Field.objects.select_related("request_document").filter(request_document__request=request_id)
    if sum(1 + len(field.options or ()) for field in rows) > _MANY:
        expensive_request()
    return sorted(rows, key=_place)


def own_fields(signer: Signer) -> list[Field]:
    """Return the fields of one signer, in the same order."""
    some = fields_of(signer.request_id) if signer.request.has_fields else ()
    return [field for field in some if field.signer_id == signer.pk]


def _place(field: Field) -> tuple[int, int, float, float, int]:
    return field.request_document.position, field.page_number, -field.y - field.height, field.x, field.pk


def facts_of(field: Field) -> dict[str, Any]:
    """Return how journal, evidence and answers identify a field."""
    return {"document_id": field.request_document.document_id, "name": field.name, "type": field.type}


class SignedField(NamedTuple):
    """``value``: None until its signer has signed, for what was left empty, and once the signer is erased."""

    field: Field
    value: Value | None

    def facts(self) -> dict[str, Any]:
        return facts_of(self.field) | {"label": self.field.label, "value": self.value}


def signed_fields(request_ids: Collection[int]) -> dict[int, list[SignedField]]:
    """Return the fields of each request (by id) in the order of the payload; a request without fields is left out."""
    rows = Field.objects.filter(request_document__request__in=request_ids).select_related("request_document")
    fields = list(rows.order_by("request_document__position", "signer__order", "position"))
    signers = Signer.objects.filter(pk__in={field.signer_id for field in fields}, status=SignerStatus.SIGNED)
    values = {signer.pk: values_of(signer) for signer in signers.only("fields_encrypted")}
    found: dict[int, list[SignedField]] = defaultdict(list)
    for field in fields:
        value = values.get(field.signer_id, {}).get(field.pk)
        found[field.request_document.request_id].append(SignedField(field, value))
    return found


LONGEST = 4000  # characters, right or wrong: twice what any field takes
MISSING = ("entry_missing", "entry_unticked")
ENTERED = (
    "What the signer fills in. For a field that is left out, what was entered before counts, else the sender's value."
)

_NAMED_PROBLEMS = 3
_NAMED_MISSING = 20
_BOUNDS = ("at_least", "at_most")


class EnteredField(BaseModel):
    document_id: int = Describe(description="The document that the field stands on.")
    name: str = Describe(description="The field's name.")
    value: Annotated[Value | None, WithJsonSchema({"type": ["string", "boolean", "null"]})] = Describe(
        None,
        description="Of a checkbox, whether it is ticked; a text of all others: a date as `YYYY-MM-DD`, a number with "
        "a point or a comma. Null for nothing.",
    )


@dataclasses.dataclass(frozen=True)
class EntryProblem:
    """What is wrong with an entry: ``word`` names words of the page, which ``facts`` fill. ``path``: of the body."""

    field: Field
    word: str
    path: str = "fields"
    facts: dict[str, Any] = dataclasses.field(default_factory=dict)

    def sentence(self, locale: str) -> str:
        if self.word not in _BOUNDS:
            return catalog.phrase(catalog.of("page", locale), self.word, **self.facts)
        [value] = self.facts.values()
        return f"{bound(self.field, self.word, value, locale)}."


def bound(field: Field, word: str, value: str, locale: str) -> str:
    """Say a bound: ``at_least`` or ``at_most``."""
    word = KINDS[field.type].bounds[_BOUNDS.index(word)]
    shown = shown_text(field, value, locale)
    return catalog.phrase(catalog.of("page", locale), word, least=shown, most=shown)


class EntriesRefusal(TranslatedRefusal):
    """Entries that cannot be signed: what is wrong with each, by its path, and which are missing, by name."""

    def __init__(self, problems: Sequence[EntryProblem]) -> None:
        self.problems = problems
        super().__init__("validation_error")

    def localized(self, locale: str, *, approves: bool = False) -> str:  # noqa: ARG002  approvers enter nothing
        words = catalog.of("answer", locale)
        missing = [problem.field.name for problem in self.problems if problem.word in MISSING]
        wrong = [f"{each.path}: {each.sentence(locale)}" for each in self.problems if each.word not in MISSING]
        told = wrong[:_NAMED_PROBLEMS]
        if missing:
            names = ", ".join([*missing[:_NAMED_MISSING], *(["…"] if len(missing) > _NAMED_MISSING else [])])
            told.append(catalog.phrase(words, "fields_missing", field="fields", names=names))
        return " ".join([*told, words["more"]] if len(wrong) > _NAMED_PROBLEMS else told)


class Entry(NamedTuple):
    """``value``: as it was typed; None for nothing. ``path``: of the value in the body."""

    field: Field
    value: Value | None
    path: str


def read_entries(given: object, fields: Sequence[Field]) -> list[Entry]:
    """Return what a body says, without judging values beyond their form. ``fields``: those of the signer.

    Raise ``DomainError("validation_error", …)`` naming the path of what is not of this form, of a name that is none of
    the signer's on the document, of a text beyond :data:`LONGEST`, and of a value that is not the signer's to set.
    """
    if given is None:
        return []
    if not isinstance(given, list) or len(given) > len(fields):
        raise translated("validation_error", "field_array", field="fields", most=len(fields))
    by_name = {(field.request_document.document_id, field.name): field for field in fields}
    found: dict[int, Entry] = {}
    for index, each in enumerate(given):
        entry = _read(each, f"fields[{index}]", by_name)
        if entry.field.pk in found:
            raise translated("validation_error", "field_twice", field=f"fields[{index}].name")
        found[entry.field.pk] = entry
    if problems := list(_not_theirs(found.values())):
        raise EntriesRefusal(problems)
    return list(found.values())


def with_entries(typed: Values, entries: Sequence[Entry]) -> Values:
    """Return what was typed before, with the entries; None in them takes back what was typed."""
    changed = {entry.field.pk: entry.value for entry in entries if is_entered(entry.field)}
    return {pk: value for pk, value in {**typed, **changed}.items() if value is not None}


def _read(given: object, path: str, by_name: dict[tuple[int, str], Field]) -> Entry:
    if not isinstance(given, dict):
        raise translated("validation_error", "field_object", field=path)
    document_id, name, value = given.get("document_id"), given.get("name"), given.get("value")
    field = None
    if isinstance(document_id, int) and isinstance(name, str):
        field = by_name.get((document_id, name))
    if field is None:
        raise translated("validation_error", "no_such_field", field=f"{path}.name")
    path = f"{path}.value"
    if value is not None and KINDS[field.type].is_box:
        if not isinstance(value, bool):
            raise translated("validation_error", "field_boolean", field=path)
    elif value is not None and not (isinstance(value, str) and len(value) <= LONGEST):
        raise translated("validation_error", "field_text", field=path, most=LONGEST)
    if isinstance(value, str):  # without lone surrogates, which JSON allows and no page can show
        value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return Entry(field, value, path)


def _not_theirs(entries: Iterable[Entry]) -> Iterator[EntryProblem]:
    for entry in entries:
        if entry.value is None or is_entered(entry.field):
            continue
        if KINDS[entry.field.type].known:
            yield EntryProblem(entry.field, "set_when_signing", entry.path)
        elif entry.value != entry.field.value:
            yield EntryProblem(entry.field, "set_by_sender", entry.path)


class FilledField(NamedTuple):
    """``value``: None for none, and where the service sets it with the signature."""

    field: Field
    value: Value | None


def filled_fields(signer: Signer, given: object, read_in: str = "") -> tuple[FilledField, ...]:
    """Return all fields of the signer with what the body of a signature gives; for the others what was entered before
    counts, else the sender's value. ``read_in``: as for :func:`checked_entry`.

    Raise ``DomainError`` as :func:`read_entries` does, and :class:`EntriesRefusal` for all that is wrong or missing.
    """
    fields = own_fields(signer)
    entries = read_entries(given, fields)
    typed, locale = with_entries(values_of(signer), entries), signer.request.locale
    paths = {entry.field.pk: entry.path for entry in entries}
    measure(fields, typed, locale)
    problems: list[EntryProblem] = []
    found: list[FilledField] = []
    for field in fields:
        value, problem = field.value, None
        if is_entered(field):
            path = paths.get(field.pk, "fields")
            value, problem = checked_entry(field, typed.get(field.pk, field.value), locale, path, read_in)
        problems += [problem] if problem else []
        found.append(FilledField(field, value))
    if problems:
        raise EntriesRefusal(problems)
    return tuple(found)


def checked_entry(
    field: Field, typed: Value | None, locale: str, path: str = "fields", read_in: str = ""
) -> tuple[Value | None, EntryProblem | None]:
    """Return the value of what was typed or what is wrong with it, or neither where nothing is entered and nothing has
    to be. ``locale``: the request's, in which values stand on the pages. ``read_in``: the language of the page that the
    value was entered on; a number that can be read in two ways there is a problem."""
    kind = KINDS[field.type]
    if not typed or (isinstance(typed, str) and is_blank(typed)):
        if field.required:
            return None, EntryProblem(field, "entry_unticked" if kind.is_box else "entry_missing", path)
        return (False if kind.is_box else None), None
    if kind.is_number and read_in and typed != field.value and (readings := two_readings(typed, read_in)):
        return None, EntryProblem(field, "entry_two_readings", path, readings._asdict())
    try:
        value = _entered(field, typed)
    except InvalidEntryError as refusal:
        return None, EntryProblem(field, refusal.word, path, refusal.facts)
    if not fits(field_content(field, value, locale)):
        return None, EntryProblem(field, "entry_no_room", path)
    return value, None


def measure(fields: Iterable[Field], typed: Values, locale: str) -> None:
    """Measure together what stands in the fields, so that :func:`checked_entry` finds it measured."""
    contents = []
    for field in fields:
        if is_entered(field) and (value := typed.get(field.pk, field.value)):
            with suppress(InvalidEntryError):
                contents.append(field_content(field, _entered(field, value), locale))
    fit(contents)


def _entered(field: Field, typed: Value) -> Value:
    return entered(field, plain_number(typed) if KINDS[field.type].is_number else typed)


class ShownValue(NamedTuple):
    """``by``: who signed the value before; None for the signer's own fields, and for what the sender set."""

    field: Field
    value: Value
    by: Signer | None = None


def shown_values(signer: Signer, fields: Iterable[Field], typed: Values) -> list[ShownValue]:
    """Return the values that the signer sees in ``fields``, which are those of the request on documents that the signer
    reads. ``typed``: what the signer has entered so far; wrong values are not shown."""
    every = list(fields)
    own = [field for field in every if field.signer_id == signer.pk]
    others = [field for field in every if field.signer_id != signer.pk]
    measure(own, typed, signer.request.locale)
    values = [ShownValue(field, value) for field in own if (value := own_value(signer, field, typed)) is not None]
    return values + values_of_others(signer, others)


def own_value(signer: Signer, field: Field, typed: Values) -> Value | None:
    """Return the value of a field of the signer, None where there is none or it is wrong."""
    if not is_entered(field):
        value = known_value(field, signer) or field.value
        return value if isinstance(value, str | bool) else None
    return checked_entry(field, typed.get(field.pk, field.value), signer.request.locale)[0]


def values_of_others(signer: Signer, fields: Sequence[Field]) -> list[ShownValue]:
    """Return the values that the signer sees in ``fields`` of other signers."""
    if not fields:
        return []
    before = _before(signer)
    signed = {pk: value for each in before.values() for pk, value in values_of(each).items()}
    found = []
    for field in fields:
        if field.pk in signed:
            found.append(ShownValue(field, signed[field.pk], before[field.signer_id]))
        elif field.signer_id not in before and field.read_only and field.value is not None:
            found.append(ShownValue(field, field.value))
    return found


def _before(signer: Signer) -> dict[int, Signer]:
    if signer.request.mode != Mode.SEQUENTIAL:
        return {}
    earlier = signer.request.signers.filter(order__lt=signer.order, status=SignerStatus.SIGNED)
    return {each.pk: each for each in earlier.defer("signature_encrypted", "initials_encrypted")}
