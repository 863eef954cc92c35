"""Checking the rows of a CSV, each as if it were sent now."""

import re
import time
from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from paraph.kernel.places import expensive_work
from paraph.request_templates.bulk.columns import FieldColumns, column_name, find_columns
from paraph.request_templates.bulk.csv_file import CsvRow, Table, too_many_rows
from paraph.request_templates.bulk.pruning import make_room
from paraph.request_templates.bulk.values import (
    ValueColumns,
    asked_of,
    column_of_problem,
    find_values,
    two_meanings,
    value_column,
    value_of,
)
from paraph.request_templates.models import BulkRow, BulkSend, Role, RowState, Template
from paraph.request_templates.payload import Person, TemplatePayload
from paraph.signature_requests import values
from paraph.signature_requests.plan import make_plan
from paraph.signature_requests.problems import InvalidPayloadError
from paraph.tenants.models import User
from paraph.tenants.scope import TenantScope

MOST_VALUES = 50_000  # fields of all rows together, each of which takes a tenth of a millisecond
_MOST_SECONDS = 20.0
_INTERNATIONAL = re.compile("^00")  # what people dial for "+", which spreadsheets take for a formula
_READERS = {"first_name": values.text, "last_name": values.text, "email": values.email, "phone": values.phone}


def check_rows(scope: TenantScope, template: Template, author: User, file_name: str, table: Table) -> BulkSend:
    """Store the rows with what is wrong with each; nothing is sent.

    Each row holds a place for expensive work of its own, and none is checked once it took too long, as nobody waits
    any more then. Raises ``DomainError`` where the rows have too many values, columns are missing, which concerns all
    rows, or :func:`make_plan` refuses them all, as for a branding profile that is gone.
    """
    roles = template.roles
    _bound(template, table)
    places = find_columns(roles, table.columns)
    checked = _Checker(scope, template, roles, places)
    checked.find_values(table.columns)
    until = time.monotonic() + _MOST_SECONDS
    rows: list[BulkRow] = []
    for given in table.rows:
        if time.monotonic() > until:
            raise too_many_rows(len(rows))
        with expensive_work():
            rows.append(checked.row(given, len(table.columns)))
    with transaction.atomic():
        make_room(scope, len(rows))
        bulk_send = BulkSend.objects.create(
            organization_id=scope.organization_id,
            environment=scope.environment,
            template=template,
            author=author,
            file_name=file_name[:255],
            columns=table.columns,
            language=(get_language() or "en")[:2],
        )
        for row in rows:
            row.bulk_send = bulk_send
        BulkRow.objects.bulk_create(rows)
    return bulk_send


def _bound(template: Template, table: Table) -> None:
    fields = sum(len(template.fields_of(role)) for role in template.roles)
    if len(table.rows) * fields > MOST_VALUES:
        raise too_many_rows(MOST_VALUES // fields)


class _Checker:
    def __init__(self, scope: TenantScope, template: Template, roles: Sequence[Role], places: FieldColumns) -> None:
        self._caller, self._roles, self._places = scope, roles, places
        self._locale = template.locale
        self._payload = TemplatePayload(template)
        self._asked = asked_of(template)
        self._values: ValueColumns = {}
        self._first_with: dict[str, int] = {}

    def find_values(self, columns: Sequence[str]) -> None:
        self._values = find_values(self._roles, self._asked, columns, self._places.values())

    def row(self, row: CsvRow, width: int) -> BulkRow:
        people, problems = self._people(row)
        if len(row.cells) > width:
            problems.append(_("The row has more cells than there are columns."))
        if not problems:
            problems = self._refusals(people)
        if not problems:
            problems = self._repetition(people, row.number)
        state = RowState.WRONG if problems else RowState.READY
        return BulkRow(
            number=row.number, cells=row.cells, signers=[] if problems else people, state=state, problems=problems
        )

    def _people(self, row: CsvRow) -> tuple[list[Person], list[str]]:
        problems: list[str] = []
        people: list[Person] = [{"phone": ""} for _role in self._roles]
        for (index, field), place in self._places.items():
            text = row.cells[place] if place < len(row.cells) else ""
            if field == "phone":
                text = _INTERNATIONAL.sub("+", "".join(text.split()))
                if not text:
                    continue
            try:
                people[index][field] = _READERS[field](text)
            except values.InvalidValueError as wrong:
                problems.append(f"“{column_name(self._roles[index], field)}”: {wrong}")
        for (index, name), place in self._values.items():
            if place < len(row.cells) and (cell := row.cells[place]):
                content = self._asked[index][name]
                people[index].setdefault("values", {})[name] = value_of(content, cell)
                if problem := two_meanings(content, cell):
                    problems.append(f"“{value_column(self._roles[index], name)}”: {problem}")
        return people, problems

    def _refusals(self, people: Sequence[Person]) -> list[str]:
        payload = self._payload.of(people)
        try:
            make_plan(self._caller, payload, locale=self._locale)
        except InvalidPayloadError as refused:
            columns = [column_of_problem(problem.path, payload) for problem in refused.problems]
            return [
                f"“{column}”: {problem.sentence}" if column else problem.sentence
                for column, problem in zip(columns, refused.problems, strict=True)
            ]
        return []

    def _repetition(self, people: Sequence[Person], number: int) -> list[str]:
        """Return the problem of a row that says the same as one before: a slip, by which somebody would get two
        requests."""
        said = repr([sorted(person.items()) for person in people]).casefold()
        first = self._first_with.setdefault(said, number)
        return [] if first == number else [_("Same as row %(number)d.") % {"number": first}]
