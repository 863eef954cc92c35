"""``python -m tests.upgrades.locks``: applies all migrations to the empty database of ``DATABASE_URL`` and prints which
tables, of those that were there before, each one locks against writing in one transaction."""

import json
import sys
from typing import Any

_TABLES = "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace"
_LOCKED = """
    SELECT DISTINCT relation::regclass::text FROM pg_locks
    WHERE pid = pg_backend_pid() AND locktype = 'relation'
        AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
"""


def locked() -> dict[str, list[str]]:
    """The tables by migration, of the migrations that lock any."""
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    def column(statement: str) -> set[str]:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return {value for (value,) in cursor.fetchall()}

    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    state: Any = executor.loader.project_state([])
    found: dict[str, list[str]] = {}
    for migration, _ in plan:
        before = column(_TABLES)
        with connection.schema_editor(atomic=migration.atomic) as editor:
            state = migration.apply(state, editor)
            for statement in editor.deferred_sql:  # constraints and indexes, in the same transaction
                editor.execute(statement)
            editor.deferred_sql.clear()
            tables = column(_LOCKED) & before
        if tables:
            found[f"{migration.app_label}.{migration.name}"] = sorted(tables)
        executor.recorder.record_applied(migration.app_label, migration.name)
    return found


if __name__ == "__main__":
    import django

    django.setup()
    json.dump(locked(), sys.stdout)
