"""The database: whether it answers, has the tables of this version, and has the right time."""

import time
from collections.abc import Iterator
from datetime import timedelta

from django.db import DatabaseError, connection

from paraph.kernel import clock
from paraph.operations.check.clock import compare_clocks
from paraph.operations.check.outcome import Outcome, failed, ok
from paraph.operations.migrations import missing_migrations


def database() -> Iterator[Outcome]:
    """``database`` and, when it answers, ``clock``."""
    try:
        connection.ensure_connection()
        with connection.cursor() as cursor:
            began = time.perf_counter()
            cursor.execute("SELECT clock_timestamp(), current_setting('server_version')")
            theirs, version = cursor.fetchone()
            seconds = time.perf_counter() - began
            ours = clock.now() - timedelta(seconds=seconds / 2)
        missing = missing_migrations()
    except DatabaseError as error:
        yield failed("database", f"The database does not answer: {' '.join(str(error).split())}.")
        return
    if missing:
        yield failed("database", f"The database lacks {missing} of this version's migrations: run paraph migrate.")
    else:
        answered = f"PostgreSQL {version.split()[0]} answers in {seconds * 1000:.0f} ms"
        yield ok("database", f"{answered}; its tables are those of this version.")
    yield compare_clocks("clock", "the database's", theirs, ours)
