"""Reading rows of the same kind again and again, with one statement that Django compiles once."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import connection
from django.db.models import Model, QuerySet
from django.db.models import query as django_query
from django.db.transaction import TransactionManagementError

from paraph.database.prepared_statements import prepared_cursor

M = TypeVar("M", bound=Model)

_ANY = -1  # stands for the value while the statement is compiled


class CompiledQuery(Generic[M]):
    """The rows of ``queryset`` whose ``field`` has a value, in its order, with what it joins to them and with its
    lock: what ``queryset.filter(field=value)`` returns. The queryset is asked for at the first call.

    ``of`` makes an expression of the value, for the field to be compared with instead."""

    def __init__(
        self, queryset: Callable[[], QuerySet[M]], field: str = "pk", of: Callable[[int], Any] = lambda value: value
    ) -> None:
        self._queryset = queryset
        self._field = field
        self._of = of

    def all(self, value: int) -> list[M]:
        statement = self._statement
        if statement.locks and connection.get_autocommit():
            raise TransactionManagementError("a lock outlives no statement outside of a transaction")
        with prepared_cursor() as cursor:
            cursor.execute(statement.sql, [value])
            rows = cursor.fetchall()
        return [statement.instance(list(row)) for row in rows]

    def first(self, value: int) -> M | None:
        """None where there is no such row. To be asked where there is at most one."""
        found = self.all(value)
        return found[0] if found else None

    def get(self, value: int) -> M:
        """Raise the model's ``DoesNotExist``."""
        found = self.first(value)
        if found is None:
            raise self._statement.model.DoesNotExist(f"no {self._statement.model.__name__} with {self._field} {value}")
        return found

    @cached_property
    def _statement(self) -> "_Statement":
        query = self._queryset().filter(**{self._field: self._of(_ANY)}).query
        compiler: Any = query.get_compiler(connection=connection)
        sql, values = compiler.as_sql()
        described, columns = compiler.klass_info, compiler.select
        own = described["select_fields"]
        if values != (_ANY,) or own != list(range(len(own))):
            raise ValueError(f"not of a form that can be compiled: {sql}")
        populators_of: Any = django_query.get_related_populators
        return _Statement(
            described["model"],
            sql,
            bool(query.select_for_update),
            [column[0].target.attname for column in columns[: len(own)]],
            compiler.get_converters([column[0] for column in columns]),
            populators_of(described, columns, connection.alias),
        )


class _Statement(NamedTuple):
    """``converters``: by position in a row. ``populators`` make the joined rows, as Django's own do."""

    model: Any
    sql: str
    locks: bool
    names: list[str]
    converters: dict[int, Any]
    populators: list[Any]

    def instance(self, row: list[Any]) -> Any:
        for index, (converters, expression) in self.converters.items():
            for convert in converters:
                row[index] = convert(row[index], expression, connection)
        found = self.model.from_db(connection.alias, self.names, row[: len(self.names)])
        for populator in self.populators:
            populator.populate(row, found)
        return found
