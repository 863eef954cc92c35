"""A signer's fields as they are signed: what was typed, judged and in the form that is kept."""

from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from paraph.pdf.typesetting.field_values import fit, fits
from paraph.signature_requests.entered_value import InvalidEntryError, entered, is_blank
from paraph.signature_requests.entries import read_entries, with_entries
from paraph.signature_requests.entry_problems import EntriesRefusal, EntryProblem, problem_of
from paraph.signature_requests.field_content import field_content
from paraph.signature_requests.field_values import Value, Values, values_of
from paraph.signature_requests.models import Field, FieldType, Signer
from paraph.signature_requests.request_fields import is_entered, own_fields
from paraph.signature_requests.typed_number import plain_number, two_readings


class FilledField(NamedTuple):
    """``value``: None for none, and where the service sets it with the signature."""

    field: Field
    value: Value | None


def filled_fields(signer: Signer, given: object, read_in: str = "") -> tuple[FilledField, ...]:
    """Return all fields of the signer with what the body of a signature gives; for the others what was entered before
    counts, else the sender's value. ``read_in``: as of :func:`judged`.

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
            value, problem = judged(field, typed.get(field.pk, field.value), locale, path, read_in)
        problems += [problem] if problem else []
        found.append(FilledField(field, value))
    if problems:
        raise EntriesRefusal(problems)
    return tuple(found)


def judged(
    field: Field, typed: Value | None, locale: str, path: str = "fields", read_in: str = ""
) -> tuple[Value | None, EntryProblem | None]:
    """Return the value of what was typed and what is wrong with it: one of both, or neither where nothing is entered
    and nothing has to be. ``locale``: the request's, in which values stand on the pages. ``read_in``: the language of
    the page that they were entered on, in which a number that can be read in two ways is asked about."""
    is_box = field.type == FieldType.CHECKBOX
    if not typed or (isinstance(typed, str) and is_blank(typed)):
        if field.required:
            return None, EntryProblem(field, "entry_unticked" if is_box else "entry_missing", path)
        return (False if is_box else None), None
    is_number = field.type == FieldType.NUMBER
    if is_number and read_in and typed != field.value and (readings := two_readings(typed, read_in)):
        return None, EntryProblem(field, "entry_two_readings", path, readings._asdict())
    try:
        value = _read(field, typed)
    except InvalidEntryError as refusal:
        return None, problem_of(field, refusal, path)
    if not fits(field_content(field, value, locale)):
        return None, EntryProblem(field, "entry_no_room", path)
    return value, None


def measure(fields: Iterable[Field], typed: Values, locale: str) -> None:
    """Measure together what stands in the fields, so that :func:`judged` finds it measured."""
    contents = []
    for field in fields:
        if is_entered(field) and (value := typed.get(field.pk, field.value)):
            with suppress(InvalidEntryError):
                contents.append(field_content(field, _read(field, value), locale))
    fit(contents)


def _read(field: Field, typed: Value) -> Value:
    return entered(field, plain_number(typed) if field.type == FieldType.NUMBER else typed)
