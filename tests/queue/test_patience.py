"""A database server gives up the connections of a lost machine as soon as we give up those to a lost server."""

import asyncio
from collections.abc import Iterator
from typing import Any

import dj_database_url
import pytest
from django.db import OperationalError, connection
from django.db.utils import ConnectionHandler

from paraph.queue import queue_worker
from tests.cli.own_postgresql import OwnPostgresql

pytestmark = pytest.mark.django_db

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
