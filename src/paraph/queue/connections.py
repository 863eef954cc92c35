"""Database connections on which a worker fetches jobs: several single statements for each job."""

import select
from typing import Any

from procrastinate.contrib.django.utils import connector_params
from procrastinate.psycopg_connector import PsycopgConnector
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool


def connector(max_connections: int) -> PsycopgConnector:
    """Connects procrastinate to Django's database. Each statement commits by itself: one round trip instead of four."""
    return PsycopgConnector(
        kwargs=connector_params(), min_size=1, max_size=max_connections, pool_factory=_pool, configure=_autocommit
    )


def _pool(**settings: Any) -> AsyncConnectionPool:
    return AsyncConnectionPool(**{**settings, "check": _check})


async def _autocommit(connection: AsyncConnection) -> None:
    await connection.set_autocommit(True)


async def _check(connection: AsyncConnection) -> None:
    """Asks the server only where its socket has something to read: a server that went away has closed it."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    if poll.poll(0):
        await AsyncConnectionPool.check_connection(connection)
