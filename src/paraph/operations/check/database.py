"""The database: whether it answers, has this version's tables and the right time, enough sessions, and its standbys."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from procrastinate.contrib.django.utils import connector_params
from psycopg import OperationalError

from paraph.database.base import all_rows
from paraph.database.connections import connect
from paraph.database.migrations import missing_migrations
from paraph.database.outage import refusal_sentence
from paraph.kernel import clock
from paraph.operations.check.outcome import Outcome, compare_clocks, failed, ok, warning

COMMANDS = 5  # sessions of an operator's commands, beside those of the processes
_BRIEFLY = 0.5  # s to wait for a session: meanwhile, the sessions opened for the test are kept from the service
_MOST = 500  # sessions opened for the test, at most
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
_ASKED = """
    SELECT pg_is_in_recovery(), current_setting('synchronous_standby_names'), current_setting('synchronous_commit'),
        (SELECT count(*) FROM pg_stat_replication
         WHERE coalesce(state, '') <> 'backup' AND coalesce(application_name, '') <> 'pg_receivewal')
"""
_RELAXED = ("off", "local")  # a commit does not wait for a standby


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
        away = f"The database is not responding: {' '.join(str(error).split())}."
        yield failed(refusal_sentence(error) or away)
        return
    if missing:
        yield failed(f"The database lacks {missing} of this version's migrations: run paraph migrate.")
    else:
        answered = f"PostgreSQL {version.split()[0]} answers in {seconds * 1000:.0f} ms"
        yield ok(f"{answered}; its tables are those of this version.")
    yield compare_clocks("clock", "the database's", theirs, ours)


def connections() -> Outcome:
    """``connections``: whether as many sessions can be open at once as the running processes may open, counting at
    least those of ``paraph serve`` here. Behind a pooler, the missing sessions are opened for a moment, as a test."""
    seen = {role: (processes, sessions) for role, processes, sessions in all_rows(_OURS)}
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
        had = all_rows(_LIMIT)[0][0] - all_rows(_OTHERS)[0][0]
    who = f"{_counted(web, 'web process', 'web processes')} and {_counted(workers, 'worker', 'workers')}"
    if had >= needed:
        known = "" if pooled else f" of {had}"
        return ok(f"{needed}{known} sessions of the database can be had at once: as many as {who} open.")
    outcome = failed if had < needed / 2 else warning
    remedy = f"set default_pool_size to {needed} there" if pooled else f"{needed} are needed: raise max_connections"
    where = "the pooler before the database gives" if pooled else "the database takes"
    return outcome(
        f"{who[0].upper()}{who[1:]} open up to {needed} sessions, and {where} {had} at once: {remedy}, or run fewer."
    )


def is_pooled() -> bool:
    """Return whether a pooler answers our logins in place of PostgreSQL, so that the process numbers differ."""
    connection.ensure_connection()
    made: Any = connection.connection
    return bool(made.info.backend_pid != all_rows("SELECT pg_backend_pid()")[0][0])


def _had_at_once(needed: int, already: int) -> int:
    """Return how many sessions can be open at once. ``already``: those of the service and of this command."""
    with ExitStack() as opened:
        for number in range(already, min(needed, _MOST)):
            try:
                opened.enter_context(closing(connect(seconds=_BRIEFLY, **connector_params())))
            except OperationalError:
                return number
    return max(needed, already)


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


_REMOTE = """
    SELECT NOT coalesce(ssl, false) FROM pg_stat_ssl
    WHERE pid = pg_backend_pid() AND NOT coalesce(inet_client_addr() <<= ANY ('{127.0.0.0/8,::1}'::inet[]), true)
"""  # no row where the session comes from the server's own machine


def tls() -> Outcome:
    """``database tls``: whether the connection to a database on another machine is encrypted, also behind a pooler."""
    connection.ensure_connection()
    made: Any = connection.connection
    ours = made.info.hostaddr and not ip_address(made.info.hostaddr).is_loopback
    theirs = all_rows(_REMOTE)
    if (ours and not made.pgconn.ssl_in_use) or theirs == [(True,)]:
        advice = "add sslmode=verify-full and sslrootcert to DATABASE_URL (docs/surroundings.md, TLS to PostgreSQL)."
        return warning(f"The database is on another machine, and reached without TLS: {advice}")
    if ours or theirs:
        mode = made.info.get_parameters().get("sslmode", "prefer")
        checked = "" if mode == "verify-full" else f", but nobody checks whose certificate it has (sslmode={mode})"
        return ok(f"The database is reached by TLS{checked}.")
    return ok("The database is on this machine.")


def replication() -> Outcome:
    """``replication``: whether a commit waits for a standby, where there is one."""
    [(is_standby, synchronous, commit, standbys)] = all_rows(_ASKED)
    if is_standby:
        return failed(
            "DATABASE_URL leads to a standby, which takes no writes: name all servers there, and "
            "target_session_attrs=read-write."
        )
    if commit == "off":
        return warning("synchronous_commit is off: a crash of the database loses what was acknowledged last.")
    if not standbys and not synchronous:
        return ok("No standby follows the database.")
    if not synchronous or commit in _RELAXED:
        cause = "synchronous_standby_names is empty" if not synchronous else f"synchronous_commit is {commit}"
        return warning(
            f"No commit waits for a standby ({cause}): when it takes over, signatures that were acknowledged are lost. "
            "Set synchronous_standby_names and synchronous_commit = on: docs/operating.md, High availability."
        )
    if not standbys:
        return warning("No standby follows the database, and commits wait for one.")
    return ok(f"Commits wait for a standby ({synchronous}); {standbys} follow.")
