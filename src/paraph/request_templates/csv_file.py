"""A CSV of people as spreadsheets write it, in UTF-8 or UTF-16, with commas, semicolons or tabs; and what its columns
hold for each role: names and addresses of a person, as in "Tenant: E-mail", and values of fields, as in "Tenant: IBAN".
Columns of values may be missing and their cells may be empty."""

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.kernel.csv_lines import as_typed, csv_line
from paraph.kernel.errors import DomainError
from paraph.request_templates.models import Role, Template
from paraph.signature_requests.fields.kinds import KINDS, two_readings
from paraph.signature_requests.models import Channel

MOST_BYTES = 1024 * 1024
MOST_ROWS = 1000
_DELIMITERS = ",;\t"
_LONGEST_CELL = 1000
_MOST_COLUMNS = 200


class CsvRow(NamedTuple):
    """``number``: the row's place in a spreadsheet, where the header is 1. Empty rows are counted and left out."""

    number: int
    cells: list[str]


class Table(NamedTuple):
    columns: list[str]
    rows: list[CsvRow]


def read_csv(content: bytes) -> Table:
    """Return the table. Raise ``DomainError("validation_error", …)`` with a sentence for whoever made the file."""
    if len(content) > MOST_BYTES:
        raise _refused(_("The file is larger than 1 MiB."))
    text = _decoded(content)
    lines = _lines(text, _delimiter(text))
    header = next(lines, None)
    if header is None:
        raise _refused(_("The file is empty."))
    rows = []
    for row in lines:
        rows.append(row)
        if len(rows) > MOST_ROWS:
            raise too_many_rows(MOST_ROWS)
    if not rows:
        raise _refused(_("The file has a header but no rows."))
    return Table(header.cells, rows)


def too_many_rows(limit: int) -> DomainError:
    return _refused(_("The file has more than %(limit)d rows. Split it into several.") % {"limit": limit})


def write_csv(columns: list[str], rows: list[list[str]]) -> bytes:
    """Return a CSV with the mark by which spreadsheets recognize UTF-8. :func:`read_csv` removes the apostrophes that
    :func:`~paraph.kernel.csv_lines.csv_line` adds."""
    return codecs.BOM_UTF8 + "".join(csv_line(row) for row in [columns, *rows]).encode()


def _decoded(content: bytes) -> str:
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = content.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        raise _refused(_("The file is not text in UTF-8. Save it as “CSV UTF-8” and try again.")) from None
    if "\0" in text:
        raise _refused(_("The file is not a CSV file."))
    return text


def _delimiter(text: str) -> str:
    """Return the character that stands most often in the first line that is not empty."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return max(_DELIMITERS, key=first.count)


def _lines(text: str, delimiter: str) -> Iterator[CsvRow]:
    try:
        for number, cells in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), start=1):
            if len(cells) > _MOST_COLUMNS or any(len(cell) > _LONGEST_CELL for cell in cells):
                sentence = _("Row %(number)d is too long. Is a quotation mark missing?")
                raise _refused(sentence % {"number": number})
            stripped = [as_typed(cell.strip()).strip() for cell in cells]
            if any(stripped):
                yield CsvRow(number, stripped)
    except csv.Error:
        raise _refused(_("The file is not a CSV file.")) from None


def _refused(sentence: str) -> DomainError:
    return DomainError("validation_error", sentence)


FIELDS = {
    "first_name": gettext_lazy("First name"),
    "last_name": gettext_lazy("Last name"),
    "email": gettext_lazy("E-mail"),
    "phone": gettext_lazy("Phone"),
}
_PLAIN = {"first_name": "first name", "last_name": "last name", "email": "e-mail", "phone": "phone"}
_PEOPLE = (("Ada", "Lovelace"), ("Grace", "Hopper"), ("Alan", "Turing"), ("Katherine", "Johnson"), ("Emmy", "Noether"))

FieldColumns = dict[tuple[int, str], int]
"""Column indexes by role index and field of a person. A phone that is not needed may have no column."""

Asked = dict[str, dict[str, Any]]
"""The fields that a role fills in, by name. A value for a field that stands on several documents goes into each."""

ValueColumns = dict[tuple[int, str], int]
"""Column indexes by role index and name of a field."""

_OF_FIELD = re.compile(r"documents\[(\d+)\]\.signers\[(\d+)\]\.fields\[(\d+)\]")
_NOT_TICKED = ("0", "-", "false", "no")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DAY_FIRST = re.compile(r"([0-9]{1,2})\. ?([0-9]{1,2})\. ?([0-9]{4})")


def find_columns(roles: Sequence[Role], columns: Sequence[str]) -> FieldColumns:
    """Return the columns of the people, except for roles in which the same person always signs. Raise
    ``DomainError("validation_error", …)``, which names the columns that are missing or occur twice."""
    names = [folded(column) for column in columns]
    places: FieldColumns = {}
    missing = []
    for index, role in enumerate(roles):
        for field in () if role.person else FIELDS:
            wanted = _names(role, field, alone=len(roles) == 1)
            found = [place for place, name in enumerate(names) if name in wanted]
            if len(found) > 1:
                sentence = _("The file has two columns named “%(column)s”.")
                raise DomainError("validation_error", sentence % {"column": columns[found[1]]})
            if found:
                places[index, field] = found[0]
            elif field != "phone" or role.otp_channel == Channel.SMS:
                missing.append(column_name(role, field))
    if missing:
        sentence = _("The file is missing these columns: %(columns)s.")
        raise DomainError("validation_error", sentence % {"columns": ", ".join(f"“{name}”" for name in missing)})
    return places


def names_in(places: FieldColumns, cells: Sequence[str]) -> list[str]:
    """Return the names of the people of a row, in the order of their roles, as far as the row has them."""
    named = ("first_name", "last_name")
    people = [
        " ".join(" ".join(cells[places[role, field]] for field in named if places[role, field] < len(cells)).split())
        for role in sorted({role for role, _field in places})
    ]
    return [name for name in people if name]


def unused_columns(places: Collection[int], columns: Sequence[str]) -> list[str]:
    return [column for index, column in enumerate(columns) if index not in places and column]


def sample(roles: Sequence[Role]) -> tuple[list[str], list[str]]:
    """Return the header that the roles want, and a row as an example."""
    named = [role for role in roles if not role.person]
    columns = [column_name(role, field) for role in named for field in FIELDS]
    return columns, [cell for index in range(len(named)) for cell in _example(index)]


def _example(index: int) -> list[str]:
    """Return the cells of an example person, who differs from role to role, in the order of :data:`FIELDS`. The phone
    is written so that a spreadsheet takes it for text."""
    first_name, last_name = _PEOPLE[index % len(_PEOPLE)]
    number = "" if index < len(_PEOPLE) else str(index + 1)
    return [first_name, last_name, f"{first_name.lower()}{number}@example.com", f"00 33 6 12 34 56 {78 + index % 20}"]


def column_name(role: Role, field: str) -> str:
    return f"{role.name}: {FIELDS[field]}"


def _names(role: Role, field: str, *, alone: bool) -> set[str]:
    """Return the names that a column may have, in the page's language and in English; ``alone``: also without role."""
    fields = {str(FIELDS[field]), _PLAIN[field]}
    return {folded(f"{role.name}: {name}") for name in fields} | ({folded(name) for name in fields} if alone else set())


def folded(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def asked_of(template: Template) -> list[Asked]:
    """Return, for each role, its fields that a sender can fill in."""
    asked: list[Asked] = []
    for role in template.roles:
        contents = [field for field in template.fields_of(role) if not KINDS[field["type"]].known]
        asked.append({content["name"]: content for content in contents})
    return asked


def find_values(
    roles: Sequence[Role], asked: Sequence[Asked], columns: Sequence[str], taken: Collection[int]
) -> ValueColumns:
    """Return the first column for each field, among those that are not ``taken`` by a person."""
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
    """Return the columns that the file may have for values, and an example cell for each."""
    fields = [(role, content) for role, each in zip(roles, asked, strict=True) for content in each.values()]
    columns = [value_column(role, content["name"]) for role, content in fields]
    examples = [
        content.get("options") or [content.get("value") or KINDS[content["type"]].example] for _, content in fields
    ]
    return columns, [str(each[0]) for each in examples]


def value_of(content: dict[str, Any], cell: str) -> str | bool:
    """Return the cell's value as the payload has it. People also write decimals with a comma, tick boxes with any word,
    and put the day first where they write dates with dots."""
    kind = KINDS[content["type"]]
    if kind.is_box:
        return cell.casefold() not in _NOT_TICKED
    if kind.control == "date" and (found := _DAY_FIRST.fullmatch(cell)):
        day, month, year = found.groups()
        return f"{year}-{month:0>2}-{day:0>2}"
    return cell.replace(",", ".") if kind.is_number and cell.count(",") == 1 else cell


def misread(content: dict[str, Any], cell: str) -> str:
    """Return the problem of a cell that can be read in two ways or not at all, "" for any other: a date with slashes,
    in which some put the month first, or a number such as 1.250, thousands in one language, decimals in another."""
    kind = KINDS[content["type"]]
    if kind.control == "date" and not _DAY.fullmatch(str(value_of(content, cell))):
        return _("write the date as 2027-02-01 or 01.02.2027.")
    readings = two_readings(cell) if kind.is_number else None
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
