"""A kept connection is checked without asking the server, and one that has ended is noticed; errors of libpq, which
have no code of the server, become Django's too. A database server gives up the connections of a lost machine as soon as
we give up those to a lost server."""

import asyncio
import os
import socket
from collections.abc import Iterator
from typing import Any

import dj_database_url
import psycopg
import pytest
from django.db import DataError, OperationalError, ProgrammingError, connection, transaction
from django.db.utils import ConnectionHandler
from django.test.utils import CaptureQueriesContext

from paraph.database.base import one_row
from paraph.queue import queue_worker
from tests.cli.own_postgresql import OwnPostgresql

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_live_connection_costs_no_statement() -> None:
    connection.ensure_connection()
    with CaptureQueriesContext(connection) as queries:
        assert connection.is_usable()
    assert not queries.captured_queries


def test_one_that_the_server_ended_is_replaced() -> None:
    connection.ensure_connection()
    made: Any = connection  # typed without its checks
    kept = made.connection
    with psycopg.connect(kept.info.dsn, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [kept.info.backend_pid])
    assert not connection.is_usable()
    made.health_check_enabled = True  # as at the start of a request
    made.health_check_done = False
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)
    assert made.connection is not kept


def test_one_row_is_planned_once_and_again_when_the_server_has_forgotten_it() -> None:
    connection.close()
    for then, times in (("SELECT", 2), ("DEALLOCATE ALL", 4), ("SELECT", 2)):
        for value in (7, -1):
            assert one_row("SELECT %s::int, NULL, %s::text", [value, "é"]) == (value, None, "é")
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*), max(generic_plans + custom_plans) FROM pg_prepared_statements")
            assert cursor.fetchone() == (1, times)
            cursor.execute(then)


@pytest.mark.parametrize(
    ("statement", "value", "kind"),
    [
        ("SELECT 1 / %s::int", 0, DataError),
        ("SELECT nowhere(%s)", 0, ProgrammingError),
        ("SELECT pg_terminate_backend(pg_backend_pid()), %s::int", 0, OperationalError),
    ],
)
def test_what_is_refused_to_one_row_is_djangos_error(statement: str, value: int, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        one_row(statement, [value])
    connection.close_if_unusable_or_obsolete()  # as at the end of a request
    assert one_row("SELECT %s::int", [1]) == (1,)


def test_one_row_belongs_to_the_transaction_around_it_and_is_seen_by_who_counts_queries() -> None:
    one_row("SELECT set_config('paraph.test', %s, false)", ["before"])
    with transaction.atomic():
        one_row("SELECT set_config('paraph.test', %s, false)", ["within"])
        transaction.set_rollback(True)
    assert one_row("SELECT current_setting(%s)", ["paraph.test"]) == ("before",)
    with CaptureQueriesContext(connection) as queries:
        assert one_row("SELECT %s::int WHERE false", [1]) is None
    assert [each["sql"] for each in queries] == ["SELECT %s::int WHERE false"]


@pytest.mark.parametrize("left", ["open", "broken", "well"])
def test_after_a_request_only_a_connection_that_is_well_is_kept(left: str) -> None:
    connection.ensure_connection()
    made: Any = connection
    kept = made.connection
    if left == "open":
        connection.set_autocommit(False)  # as code leaves it that died within a transaction
    elif left == "broken":
        with pytest.raises(OperationalError):
            one_row("SELECT pg_terminate_backend(pg_backend_pid()), %s::int", [0])
    connection.close_if_unusable_or_obsolete()
    assert (made.connection is kept) == (left == "well")
    assert left != "well" or not made.health_check_done  # the next request looks again
    connection.ensure_connection()
    connection.set_autocommit(True)


def test_nothing_that_comes_from_the_server_any_more_is_djangos_error() -> None:
    """A killed server sends nothing more."""
    own: Any = connection
    own.ensure_connection()
    with socket.socket(fileno=os.dup(own.connection.pgconn.socket)) as line:
        line.shutdown(socket.SHUT_RD)
    with pytest.raises(OperationalError):
        own.planned("SELECT 1", [])
    own.close()


_ADDRESS = "127.0.0.83"  # an address of this machine where no other server listens
_ASKED = """
    SELECT string_agg(setting, ' ' ORDER BY name) AS found FROM pg_settings WHERE name LIKE 'tcp\\_%' AND setting <> ''
"""
_OURS = "3 10 5 20000"  # probes, s until the first probe, s between probes, ms without an answer


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[OwnPostgresql]:
    made = OwnPostgresql(_ADDRESS)
    made.create()
    yield made
    made.remove()


def connected(url: str) -> Any:
    settings: Any = dj_database_url.parse(url, engine="paraph.database", conn_max_age=None, conn_health_checks=True)
    return ConnectionHandler({"default": settings})["default"]


def asked(made: Any) -> str:
    with made.cursor() as cursor:
        cursor.execute(_ASKED.replace("%", "%%"), [])
        return str(cursor.fetchone()[0])


@pytest.mark.parametrize(("option", "settings"), [("", _OURS), ("&keepalives_idle=60", "3 60 5 20000")])
def test_a_server_notices_soon_that_a_machine_is_lost(elsewhere: OwnPostgresql, option: str, settings: str) -> None:
    """With PostgreSQL's defaults this would take two hours, and locks would be held as long. Options of the address
    count for both ends."""
    made = connected(f"{elsewhere.url}{option}")
    assert asked(made) == settings
    made.close()


def test_connections_that_jobs_are_fetched_on_do_as_well(
    elsewhere: OwnPostgresql, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = connected(elsewhere.url).get_connection_params()
    kept = {name: value for name, value in parameters.items() if name not in ("cursor_factory", "context")}
    monkeypatch.setattr(queue_worker, "connector_params", lambda: kept)

    async def fetched() -> str:
        made = queue_worker.Connector(1)
        await made.open_async()
        row = await made.execute_query_one_async(_ASKED.replace("%", "%%"))
        await made.close_async()
        return str(row["found"])

    assert asyncio.run(fetched()) == _OURS


def test_of_several_servers_the_one_that_takes_writes_is_found(elsewhere: OwnPostgresql) -> None:
    nobody = "127.0.0.82"
    writes = "&target_session_attrs=read-write&connect_timeout=2"
    made = connected(f"postgresql://paraph@/paraph?host={nobody},{_ADDRESS}{writes}")
    assert asked(made) == _OURS
    made.close()
    elsewhere.run(f"echo 'default_transaction_read_only = on' >> {elsewhere.data}/postgresql.auto.conf")
    elsewhere.stop()
    elsewhere.start()
    made = connected(f"postgresql://paraph@/paraph?host={nobody},{_ADDRESS}{writes}")
    with pytest.raises(OperationalError, match="session is read-only"):
        made.ensure_connection()


def test_a_server_of_this_machine_is_asked_for_nothing() -> None:
    assert asked(connection) == "0 0 0 0"
