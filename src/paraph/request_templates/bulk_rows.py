"""The rows of a bulk send: checking each as if it were sent now, and deleting them after a time."""

import re
import time
from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from paraph.drafts.content import creation_of
from paraph.kernel.places import expensive_work
from paraph.request_templates.csv_file import (
    CsvRow,
    FieldColumns,
    Table,
    ValueColumns,
    asked_of,
    column_name,
    column_of_problem,
    find_columns,
    find_values,
    misread,
    too_many_rows,
    value_of,
)
from paraph.request_templates.filled import Person, with_people
from paraph.request_templates.models import BulkRow, BulkSend, BulkStatus, RowState, Template
from paraph.signature_requests import values
from paraph.signature_requests.plan import make_plan
from paraph.signature_requests.problems import InvalidPayloadError
from paraph.tenants.lifecycle import over
from paraph.tenants.limits import oldest_beyond
from paraph.tenants.models import User
from paraph.tenants.scope import TenantScope, scoped

KEPT_FOR = timedelta(days=90)
MOST_VALUES = 50_000  # fields of all rows together, each of which takes a tenth of a millisecond
_MOST_SECONDS = 20.0
_INTERNATIONAL = re.compile("^00")  # what people dial for "+", which spreadsheets take for a formula
_READERS = {"first_name": values.text, "last_name": values.text, "email": values.email, "phone": values.phone}


def check_rows(scope: TenantScope, template: Template, author: User, file_name: str, table: Table) -> BulkSend:
    """Store the rows, each with what is wrong with it; nothing is sent.

    Each row takes a place for expensive work of its own. Raise ``DomainError`` where the check takes so long that
    nobody waits for it any more, the rows have too many values, columns are missing, or :func:`make_plan` refuses all
    rows, as for a branding profile that is gone.
    """
    fields = sum(len(template.fields_of(role)) for role in template.roles)
    if len(table.rows) * fields > MOST_VALUES:
        raise too_many_rows(MOST_VALUES // fields)
    checked = _Checker(scope, template, table.columns)
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
            **scope.columns,
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


class _Checker:
    def __init__(self, scope: TenantScope, template: Template, columns: Sequence[str]) -> None:
        self._caller, self._roles, self._locale = scope, template.roles, template.locale
        self._creation, self._asked = creation_of(template.content), asked_of(template)
        self._places: FieldColumns = find_columns(self._roles, columns)
        self._values: ValueColumns = find_values(self._roles, self._asked, columns, self._places.values())
        self._columns = columns
        self._first_with: dict[str, int] = {}

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
        people: list[Person] = [{} for _role in self._roles]
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
                if problem := misread(content, cell):
                    problems.append(f"{self._columns[place]}: {problem}")
        return people, problems

    def _refusals(self, people: Sequence[Person]) -> list[str]:
        payload = with_people(self._creation, people)
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
        """Return the problem of a row that repeats an earlier one: a slip, by which somebody would get two requests."""
        said = repr([sorted(person.items()) for person in people]).casefold()
        first = self._first_with.setdefault(said, number)
        return [] if first == number else [_("Same as row %(number)d.") % {"number": first}]


def delete_old_bulk_sends() -> int:
    """Delete, with their rows, the bulk sends that are not under way and were uploaded 90 days ago, or as long ago as
    files are kept, where that is shorter; return how many. Requests stay."""
    count = 0
    for old in over(BulkSend.objects.exclude(status=BulkStatus.SENDING), "created_at", KEPT_FOR):
        count += old.count()
        old.delete()
    return count


def make_room(scope: TenantScope, new: int) -> None:
    """On the plan Free, make room for ``new`` rows by deleting the oldest bulk sends that are not under way, as far
    as the operator's setting asks for it. Requests stay."""
    mine = scoped(BulkSend, scope)
    rows = BulkRow.objects.filter(bulk_send__in=mine).order_by("bulk_send_id", "number")
    beyond = oldest_beyond(scope, rows, settings.PARAPH.kept_bulk_rows, new)
    old = set(BulkRow.objects.filter(pk__in=beyond).values_list("bulk_send_id", flat=True))
    mine.filter(pk__in=old).exclude(status=BulkStatus.SENDING).delete()
