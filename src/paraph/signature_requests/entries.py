"""What a body says of a signer's fields: ``[{"document_id", "name", "value"}]``, as it was typed, right or wrong."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, NamedTuple

from pydantic import BaseModel, WithJsonSchema
from pydantic import Field as Describe

from paraph.signature_requests.entry_problems import EntriesRefusal, EntryProblem
from paraph.signature_requests.field_values import Value, Values
from paraph.signature_requests.models import FILLED_BY_SERVICE, Field, FieldType
from paraph.signature_requests.request_fields import is_entered
from paraph.signature_requests.translated_refusal import translated

LONGEST = 4000  # characters, right or wrong: twice what any field takes


ENTERED = (
    "What the signer fills in. For a field that is left out, what was entered before counts, else the sender's value."
)


class EnteredField(BaseModel):
    document_id: int = Describe(description="The document that the field stands on.")
    name: str = Describe(description="The field's name.")
    value: Annotated[Value | None, WithJsonSchema({"type": ["string", "boolean", "null"]})] = Describe(
        None,
        description="Of a checkbox, whether it is ticked; a text of all others: a date as `YYYY-MM-DD`, a number with "
        "a point or a comma. Null for nothing.",
    )


class Entry(NamedTuple):
    """``value``: as it was typed; None for nothing. ``path``: of the value in the body."""

    field: Field
    value: Value | None
    path: str


def read_entries(given: object, fields: Sequence[Field]) -> list[Entry]:
    """Return what a body says, without judging values beyond their form. ``fields``: those of the signer.

    Raise ``DomainError("validation_error", …)`` naming the path of what has not this form, of a name that is none of
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
    if value is not None and field.type == FieldType.CHECKBOX and not isinstance(value, bool):
        raise translated("validation_error", "field_boolean", field=path)
    if value is not None and field.type != FieldType.CHECKBOX and not _is_text(value):
        raise translated("validation_error", "field_text", field=path, most=LONGEST)
    return Entry(field, value if not isinstance(value, str) else _writable(value), path)


def _writable(text: str) -> str:
    """Return the text without lone surrogates, which JSON allows and no page can show."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST


def _not_theirs(entries: Iterable[Entry]) -> Iterator[EntryProblem]:
    for entry in entries:
        if entry.value is None or is_entered(entry.field):
            continue
        if entry.field.type in FILLED_BY_SERVICE:
            yield EntryProblem(entry.field, "set_when_signing", entry.path)
        elif entry.value != entry.field.value:
            yield EntryProblem(entry.field, "set_by_sender", entry.path)
