"""Database connections on which a worker fetches jobs: several single statements for each job."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from procrastinate.contrib.django.utils import connector_params
from procrastinate.psycopg_connector import PsycopgConnector
from psycopg import AsyncConnection, InterfaceError, OperationalError
from psycopg.abc import PQGen
from psycopg_pool import AsyncConnectionPool

from paraph.database import idle
from paraph.database.connections import connect, first_statement, is_readable

_CONNECTION_SECONDS = 5.0  # for which a statement waits for a connection
_INTERVAL_SECONDS = 5.0


async def try_connection() -> None:
    """Raise ``psycopg.OperationalError`` when the database, or a pooler before it, gives no session in time."""
    made = await asyncio.to_thread(connect, seconds=_CONNECTION_SECONDS, **connector_params())
    made.close()


class Connector(PsycopgConnector):
    """Connect procrastinate to Django's database. Each statement commits by itself: one round trip instead of four.
    ``lost`` is called when a statement fails because the database is away or the connection was lost: procrastinate
    itself does not tell of what it could not note. ``asked`` is called each time that the database has said which job
    is next, if any."""

    def __init__(
        self, max_connections: int, lost: Callable[[], None] = lambda: None, asked: Callable[[], None] = lambda: None
    ) -> None:
        pool: dict[str, Any] = {"min_size": 1, "max_size": max_connections, "timeout": _CONNECTION_SECONDS}
        pool |= {"connection_class": _QuietConnection, "configure": _configure, "max_idle": idle.SECONDS}
        super().__init__(pool_factory=_pool, kwargs=connector_params(), **pool)
        self._lost, self._asked = lost, asked

    async def execute_query_one_async(self, query: Any, **arguments: Any) -> dict[str, Any]:
        row: dict[str, Any] = await super().execute_query_one_async(query, **arguments)
        self._asked()  # such a statement registers the worker, or fetches a job
        return row

    @asynccontextmanager
    async def _get_cursor(self, *connection: Any, **named: Any) -> AsyncIterator[Any]:
        """Every statement asks for one."""
        try:
            async with super()._get_cursor(*connection, **named) as cursor:
                yield cursor
        except (OperationalError, InterfaceError):
            self._lost()
            raise


def _pool(**settings: Any) -> AsyncConnectionPool:
    """Make the pool, with our own check in place of procrastinate's."""
    return AsyncConnectionPool(**{**settings, "check": _check})


class _QuietConnection(AsyncConnection):
    """A connection that sleeps until its server says something. Psycopg's looks ten times a second whether it was
    interrupted, also while a worker has nothing to do; here an event loop tells that."""

    async def wait(self, gen: PQGen[Any], interval: float = _INTERVAL_SECONDS, timeout: float | None = None) -> Any:
        return await super().wait(gen, interval, timeout)


async def _configure(connection: AsyncConnection) -> None:
    await connection.set_autocommit(True)
    await connection.execute(first_statement(connection))


async def _check(connection: AsyncConnection) -> None:
    """Ask the server only where its socket has something to read: a server that went away has closed it."""
    if is_readable(connection.fileno()):
        await AsyncConnectionPool.check_connection(connection)
