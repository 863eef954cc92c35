"""Values of fields in a CSV: columns named as "Tenant: IBAN", which may be missing, and cells, which may be empty."""

import re
from collections.abc import Collection, Sequence
from typing import Any

from django.utils.translation import gettext as _

from paraph.request_templates.bulk.columns import folded
from paraph.request_templates.models import Role, Template
from paraph.signature_requests.fields.kinds import KINDS, two_readings

Asked = dict[str, dict[str, Any]]
"""What fields of a role ask, by their names. A field that stands on several documents is filled on each."""

ValueColumns = dict[tuple[int, str], int]
"""The column of a role, as an index, and the name of a field."""

_OF_FIELD = re.compile(r"documents\[(\d+)\]\.signers\[(\d+)\]\.fields\[(\d+)\]")
_NOT_TICKED = ("0", "-", "false", "no")


def asked_of(template: Template) -> list[Asked]:
    """Return what each role is asked that a sender can fill in."""
    asked: list[Asked] = []
    for role in template.roles:
        contents = [field for field in template.fields_of(role) if not KINDS[field["type"]].known]
        asked.append({content["name"]: content for content in contents})
    return asked


def find_values(
    roles: Sequence[Role], asked: Sequence[Asked], columns: Sequence[str], taken: Collection[int]
) -> ValueColumns:
    """Return the first column of each field, of those that are not of a person."""
    names = ["" if place in taken else folded(column) for place, column in enumerate(columns)]
    places: ValueColumns = {}
    for index, (role, fields) in enumerate(zip(roles, asked, strict=True)):
        for name in fields:
            wanted = {folded(value_column(role, name))} | ({folded(name)} if len(roles) == 1 else set())
            if found := [place for place, column in enumerate(names) if column and column in wanted]:
                places[index, name] = found[0]
    return places


def value_column(role: Role, name: str) -> str:
    return f"{role.name}: {name}"


def sample_values(roles: Sequence[Role], asked: Sequence[Asked]) -> tuple[list[str], list[str]]:
    """Return the columns that there can be, and a cell of each as an example."""
    fields = [(role, content) for role, each in zip(roles, asked, strict=True) for content in each.values()]
    columns = [value_column(role, content["name"]) for role, content in fields]
    return columns, [_example(content) for _role, content in fields]


def value_of(content: dict[str, Any], cell: str) -> str | bool:
    """Return the value of the payload. People write decimals with a comma too, and tick boxes with any word."""
    kind = KINDS[content["type"]]
    if kind.is_box:
        return cell.casefold() not in _NOT_TICKED
    return cell.replace(",", ".") if kind.is_number and cell.count(",") == 1 else cell


def two_meanings(content: dict[str, Any], cell: str) -> str:
    """Return the problem of a number such as 1.250, "" for any other cell: spreadsheets of one language write so what
    in another has three decimals."""
    readings = two_readings(cell) if KINDS[content["type"]].is_number else None
    if readings is None:
        return ""
    sentence = _("“%(cell)s” can be read in two ways. Write %(large)s or %(small)s.")
    return sentence % {"cell": cell, "large": readings.large, "small": readings.small}


def column_of_problem(path: str, payload: dict[str, Any]) -> str:
    """Return the column that a problem of the payload is about, "" where it is about none."""
    if not (found := _OF_FIELD.match(path)):
        return ""
    document, signer, field = map(int, found.groups())
    assignment = payload["documents"][document]["signers"][signer]
    role = assignment["signer_ref"].partition(". ")[2]
    return f"{role}: {assignment['fields'][field]['name']}"


def _example(content: dict[str, Any]) -> str:
    options = content.get("options") or [content.get("value") or KINDS[content["type"]].example]
    return str(options[0])
