"""Database connections on which a worker fetches jobs: several single statements for each job."""

import asyncio
import select
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from procrastinate.contrib.django.utils import connector_params
from procrastinate.psycopg_connector import PsycopgConnector
from psycopg import AsyncConnection, InterfaceError, OperationalError
from psycopg.abc import PQGen
from psycopg_pool import AsyncConnectionPool

from paraph.database import idle
from paraph.database.connections import connect, first_statement

_CONNECTION_SECONDS = 5.0  # for which a statement waits for a connection
_INTERVAL_SECONDS = 5.0
_Result = TypeVar("_Result")


def connector(
    max_connections: int, lost: Callable[[], None] = lambda: None, asked: Callable[[], None] = lambda: None
) -> PsycopgConnector:
    """Connect procrastinate to Django's database. Each statement commits by itself: one round trip instead of four.
    ``lost`` is called when a statement fails because the database is away or the connection was lost: procrastinate
    itself does not tell of what it could not note. ``asked`` is called each time that the database has said which job
    is next, if any."""
    return _Connector(
        (lost, asked),
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
    def __init__(self, told: tuple[Callable[[], None], Callable[[], None]], **settings: Any) -> None:
        super().__init__(**settings)
        self._lost, self._asked = told

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
