"""Tables that PostgreSQL takes for large, and the statements that scan them.

Within one transaction, which is undone, the catalog says that each table holds a million rows on the pages that it has,
and of their values only that few rows belong to the same row of another table. So plans are those of a large database,
whatever rows other tests have left. Prepared statements get the plan for any values.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from django.db import DEFAULT_DB_ALIAS, connection, connections

from paraph.database import base

# Tables with as many rows as there are workers, migrations, periodic jobs, or keys and authorities of seals.
SMALL = [
    "evidence_sharedcontent", "journal_sharedfacts",
    "django_migrations", "django_content_type", "django_site", "auth_permission", "auth_group",
    "procrastinate_workers", "procrastinate_periodic_defers", "organizations_installation",
]  # fmt: skip
# An empty table has no page that could hold rows, so each gets a row, whose page stays; its checks are dropped first.
_HAVE_ROWS = """
DO $$
DECLARE large regclass; part record; names text; filled text;
BEGIN
    FOR large IN
        SELECT oid FROM pg_class
        WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) = 0
    LOOP
        FOR part IN SELECT conname FROM pg_constraint WHERE conrelid = large AND contype = 'c' LOOP
            EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', large, part.conname);
        END LOOP;
        SELECT string_agg(quote_ident(attname), ', '), string_agg(
            CASE typcategory WHEN 'N' THEN '0' WHEN 'B' THEN 'false' WHEN 'D' THEN 'now()' WHEN 'A' THEN '''{}'''
                WHEN 'E' THEN format('enum_first(NULL::%s)', typname)
                WHEN 'I' THEN '''::1'''
                ELSE CASE typname WHEN 'uuid' THEN 'gen_random_uuid()' WHEN 'jsonb' THEN '''{}''' ELSE '''''' END END,
            ', ') INTO names, filled
        FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
        WHERE attrelid = large AND attnum > 0 AND NOT attisdropped AND attnotnull AND NOT atthasdef
            AND attidentity = '' AND attgenerated = '';
        IF names IS NULL THEN
            EXECUTE format('INSERT INTO %s DEFAULT VALUES', large);
        ELSE
            EXECUTE format('INSERT INTO %s (%s) VALUES (%s)', large, names, filled);
        END IF;
        EXECUTE format('DELETE FROM %s', large);
    END LOOP;
END $$
"""
_SEEM_LARGE = """
    UPDATE pg_class SET relpages = greatest(pg_relation_size(oid) / 8192, 1), reltuples = 1000000
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> ALL(%s)
"""
_FORGET_VALUES = """
    DELETE FROM pg_statistic
    WHERE starelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)
"""
# A request has a few signers, and so on; an organization has very many: there PostgreSQL assumes a 200th of all.
_FEW_BELONG_TOGETHER = """
    INSERT INTO pg_statistic (starelid, staattnum, stainherit, stanullfrac, stawidth, stadistinct,
        stakind1, stakind2, stakind3, stakind4, stakind5, staop1, staop2, staop3, staop4, staop5,
        stacoll1, stacoll2, stacoll3, stacoll4, stacoll5)
    SELECT DISTINCT conrelid, conkey[1], false, 0, 8, -0.3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM pg_constraint
    WHERE contype = 'f' AND connamespace = 'public'::regnamespace
        AND confrelid::regclass::text NOT LIKE 'organizations%'
"""


def have_all_tables_seem_large() -> None:
    """Have PostgreSQL take all tables but ``SMALL`` for large, until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(_HAVE_ROWS)
        cursor.execute("SET LOCAL session_replication_role = origin")
        cursor.execute(_SEEM_LARGE, [SMALL])
        cursor.execute(_FORGET_VALUES)
        cursor.execute(_FEW_BELONG_TOGETHER)
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        cursor.execute("SET LOCAL cpu_index_tuple_cost = 0.02")  # no plan shall read a whole index instead
        cursor.execute("SET LOCAL jit = off")


_TABLES = """
    SELECT array_agg(oid ORDER BY oid), array_agg(relname::text ORDER BY oid) FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> ALL(%s)
"""
_COUNTS = """
    SELECT array_agg(pg_stat_get_xact_numscans(oid) ORDER BY number)
    FROM unnest(%s::oid[]) WITH ORDINALITY AS each (oid, number)
"""
_OF_TRANSACTIONS = ("SAVEPOINT", "RELEASE", "ROLLBACK")


class Scans:
    """``found``: statements with the tables that they, their functions or their triggers read row by row; ``asked``:
    all statements."""

    def __init__(self) -> None:
        self.found: dict[str, set[str]] = {}
        self.asked: set[str] = set()
        self._counts: list[int] = []

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Note the statements of the block and their scans, those in triggers and functions included."""
        planned, mine = base.DatabaseWrapper.planned, connections[DEFAULT_DB_ALIAS]

        def planned_asked(own: Any, statement: str, values: Any) -> Any:
            answer = planned(own, statement, values)
            if own is mine:  # not the connection of a thread that checks readiness
                self._note(statement)
            return answer

        [self._oids, self._names] = _row(_TABLES, SMALL)
        [self._counts] = _row(_COUNTS, self._oids)
        kept = patch.object(base.DatabaseWrapper, "close_if_unusable_or_obsolete")  # lives as long as the transaction
        with (
            kept,
            patch.object(base.DatabaseWrapper, "planned", planned_asked),
            connection.execute_wrapper(self._asked),
        ):
            yield

    def _asked(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        answer = execute(sql, params, many, context)
        self._note(sql)
        return answer

    def _note(self, statement: str) -> None:
        if statement.startswith(_OF_TRANSACTIONS):
            return
        self.asked.add(statement)
        [counts] = _row(_COUNTS, self._oids)
        read = {name for name, now, before in zip(self._names, counts, self._counts, strict=True) if now > before}
        self._counts = counts
        if read:
            self.found.setdefault(" ".join(statement.split()), set()).update(read)


def _row(statement: str, value: list[Any]) -> Any:
    """The row that a statement returns which is not itself noted."""
    own: Any = connection.connection
    return own.execute(statement, [value]).fetchone()
