"""Database connections on which a worker fetches jobs: several single statements for each job."""

import asyncio
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from procrastinate.contrib.django.utils import connector_params
from procrastinate.exceptions import ConnectorException
from procrastinate.psycopg_connector import PsycopgConnector
from psycopg import AsyncConnection, InterfaceError, OperationalError
from psycopg.abc import PQGen
from psycopg_pool import AsyncConnectionPool

from paraph.database import idle
from paraph.database.connections import connect, first_statement

_CONNECTION_SECONDS = 5.0  # for which a statement waits for a connection
_INTERVAL_SECONDS = 5.0
_Result = TypeVar("_Result")


def connector(max_connections: int, lost: Callable[[], None] = lambda: None) -> PsycopgConnector:
    """Connect procrastinate to Django's database. Each statement commits by itself: one round trip instead of four.
    ``lost`` is called when a statement fails because the database is away or the connection was lost: procrastinate
    itself does not tell of what it could not note."""
    return _Connector(
        lost,
        kwargs=connector_params(),
        min_size=1,
        max_size=max_connections,
        timeout=_CONNECTION_SECONDS,
        pool_factory=_pool,
        configure=_configure,
    )


async def try_connection() -> None:
    """Raise ``psycopg.OperationalError`` when the database, or a pooler before it, gives no session in time."""
    made = await asyncio.to_thread(connect, seconds=_CONNECTION_SECONDS, **connector_params())
    made.close()


class _Connector(PsycopgConnector):
    def __init__(self, lost: Callable[[], None], **settings: Any) -> None:
        super().__init__(**settings)
        self._lost = lost

    async def execute_query_async(self, query: Any, **arguments: Any) -> None:
        with self._telling():
            await super().execute_query_async(query, **arguments)

    async def execute_query_one_async(self, query: Any, **arguments: Any) -> dict[str, Any]:
        with self._telling():
            row: dict[str, Any] = await super().execute_query_one_async(query, **arguments)
            return row

    async def execute_query_all_async(self, query: Any, **arguments: Any) -> list[dict[str, Any]]:
        with self._telling():
            rows: list[dict[str, Any]] = await super().execute_query_all_async(query, **arguments)
            return rows

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except ConnectorException as fault:
            if isinstance(fault.__cause__, OperationalError | InterfaceError):
                self._lost()
            raise


def _pool(**settings: Any) -> AsyncConnectionPool:
    settings["connection_class"] = _QuietConnection
    return AsyncConnectionPool(**{**settings, "check": _check, "max_idle": idle.SECONDS})


class _QuietConnection(AsyncConnection):
    """A connection that sleeps until its server says something. Psycopg's looks ten times a second whether it was
    interrupted, also while a worker has nothing to do; here an event loop tells that."""

    async def wait(
        self, gen: PQGen[_Result], interval: float = _INTERVAL_SECONDS, timeout: float | None = None
    ) -> _Result:
        return await super().wait(gen, interval, timeout)


async def _configure(connection: AsyncConnection) -> None:
    await connection.set_autocommit(True)
    await connection.execute(first_statement(connection))


async def _check(connection: AsyncConnection) -> None:
    """Ask the server only where its socket has something to read: a server that went away has closed it."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    if poll.poll(0):
        await AsyncConnectionPool.check_connection(connection)
