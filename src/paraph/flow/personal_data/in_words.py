"""What organizations wrote into drafts and templates that names a person who need not sign them."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from paraph.audit_trail.erase import ERASED
from paraph.drafts.models import Draft
from paraph.flow.personal_data.place import Facts, Person, Place, columns, names_person
from paraph.request_templates.models import Template

_ALWAYS_THERE = {"name"}  # of a field, which needs one
_COPIES = "copies"  # of a draft, which are a place of their own


class _Written(NamedTuple):
    model: Any
    table: str
    organization: str
    columns: tuple[str, ...]


class Found(NamedTuple):
    """``words``: what names the person, by the path to it."""

    row: Any
    organization_id: int
    words: dict[str, str]


_WRITTEN = (
    _Written(Draft, "drafts_draft", "organization_id", ("title", "subject", "message", "more_options", "placed")),
    _Written(
        Template,
        "request_templates_template",
        "organization_id",
        ("name", "subject", "message", "more_options", "request"),
    ),
)


def _find(person: Person) -> Iterator[Found]:
    for model, _table, organization, names in _WRITTEN:
        rows = model.objects.filter(**person.of(organization)).order_by("pk")
        for pk, organization_id, *values in rows.values_list("pk", organization, *names).iterator():
            found = {
                path: text
                for name, value in zip(names, values, strict=True)
                for path, text in _texts(name, value)
                if names_person(person, text)
            }
            if found:
                yield Found(model(pk=pk), organization_id, found)


def _texts(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from () if key == _COPIES else _texts(f"{path}.{key}", each)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _texts(f"{path}[{number}]", each)


def _told(found: Found) -> Facts:
    return {
        "organization_id": found.organization_id,
        "kind": type(found.row).__name__,
        "id": found.row.pk,
        **found.words,
    }


def _erase(person: Person, found: Sequence[Found]) -> int:
    """Take these texts away, and what an object calls by them; "erased" stands where there must be one."""
    by_model = {written.model: written.columns for written in _WRITTEN}
    for row, _organization_id, _words in found:
        names = by_model[type(row)]
        kept = type(row).objects.select_for_update(no_key=True).filter(pk=row.pk).values(*names).first() or {}
        left = {name: _without(person, value, name) for name, value in kept.items()}
        type(row).objects.filter(pk=row.pk).update(**left)
    return len(found)


def _without(person: Person, value: Any, name: str = "") -> Any:
    if isinstance(value, str):
        return value if not names_person(person, value) else ERASED if name in _ALWAYS_THERE else ""
    if isinstance(value, list):
        return [_without(person, each, "name") for each in value]
    if isinstance(value, dict):
        left = {key: each if key == _COPIES else _without(person, each, key) for key, each in value.items()}
        return {key: each for key, each in left.items() if each != "" or value[key] == ""}
    return value


IN_WORDS: tuple[Place[Person, Any], ...] = (
    Place(
        "words in drafts and templates",
        frozenset().union(*(columns(table, " ".join(names)) for _, table, _, names in _WRITTEN)),
        _find,
        _told,
        _erase,
    ),
)
