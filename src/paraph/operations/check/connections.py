"""Whether the database, or the pooler before it, has as many sessions as the service opens."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

from django.conf import settings
from django.db import connection
from psycopg import OperationalError

from paraph.database.first_statement import connect
from paraph.database.sessions import connection_parameters
from paraph.operations.check.outcome import Outcome, failed, ok, warning

COMMANDS = 5  # sessions of an operator's commands, beside those of the processes
_BRIEFLY = 0.5  # s that a session is waited for: meanwhile those that were had are kept from the service
_MOST = 500  # are opened for a try

_LIMIT = """
    SELECT least(
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
            - coalesce(current_setting('reserved_connections', true), '0')::int,
        (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user),
        (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database())
    )
"""
_OTHERS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND application_name NOT LIKE 'paraph %'
"""
_OURS = """
    SELECT split_part(application_name, ' ', 2), count(DISTINCT application_name), count(*)
    FROM pg_stat_activity WHERE application_name LIKE 'paraph %' AND datname = current_database() GROUP BY 1
"""


def connections() -> Iterator[Outcome]:
    """``connections``: how many sessions can be had at once, and how many the processes open that are seen at work, at
    least those that ``paraph serve`` starts on this machine.

    Behind a pooler it is tried: as many are opened as are still missing, for a moment.
    """
    seen = {role: (processes, sessions) for role, processes, sessions in _rows(_OURS)}
    web, workers = (
        max(configured, seen.get(role, (0, 0))[0])
        for role, configured in zip(("web", "worker"), settings.PARAPH.processes, strict=True)
    )
    sessions = web * settings.PARAPH.sessions_of_web_process + workers * settings.PARAPH.sessions_of_worker
    needed = sessions + COMMANDS
    pooled = is_pooled()
    if pooled:
        had = _had_at_once(needed, sum(open_ for _, open_ in seen.values()))
    else:
        had = _rows(_LIMIT)[0][0] - _rows(_OTHERS)[0][0]
    who = f"{_counted(web, 'web process', 'web processes')} and {_counted(workers, 'worker', 'workers')}"
    if had >= needed:
        known = "" if pooled else f" of {had}"
        yield ok("connections", f"{needed}{known} sessions of the database can be had at once: as many as {who} open.")
        return
    judge = failed if had < needed / 2 else warning
    remedy = f"set default_pool_size to {needed} there" if pooled else f"{needed} are needed: raise max_connections"
    where = "the pooler before the database gives" if pooled else "the database takes"
    yield judge(
        "connections",
        f"{who[0].upper()}{who[1:]} open up to {needed} sessions, and {where} {had} at once: {remedy}, or run fewer.",
    )


def is_pooled() -> bool:
    """Whether something between us and PostgreSQL answers logins itself, under another process number."""
    connection.ensure_connection()
    made: Any = connection.connection
    return bool(made.info.backend_pid != _rows("SELECT pg_backend_pid()")[0][0])


def _had_at_once(needed: int, already: int) -> int:
    """``already``: how many the service has open, this command's own among them."""
    with ExitStack() as opened:
        for number in range(already, min(needed, _MOST)):
            try:
                opened.enter_context(closing(connect(seconds=_BRIEFLY, **connection_parameters())))
            except OperationalError:
                return number
    return max(needed, already)


def _rows(statement: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        found: list[Any] = cursor.fetchall()
    return found


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
