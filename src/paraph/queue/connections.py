"""The connections on which a worker asks the queue: what it asks are single statements, several for each job."""

import select
from typing import Any

from procrastinate.contrib.django.utils import connector_params
from procrastinate.psycopg_connector import PsycopgConnector
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool


def connector(most: int) -> PsycopgConnector:
    """With up to ``most`` connections. Each statement is a transaction by itself, one round trip instead of four."""
    return PsycopgConnector(
        kwargs=connector_params(), min_size=1, max_size=most, pool_factory=_pool, configure=_commit_each
    )


def _pool(**settings: Any) -> AsyncConnectionPool:
    return AsyncConnectionPool(**{**settings, "check": _check})


async def _commit_each(connection: AsyncConnection) -> None:
    await connection.set_autocommit(True)


async def _check(connection: AsyncConnection) -> None:
    """As ``DatabaseWrapper.is_usable`` of our engine: while there is nothing to read, the server has not gone."""
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if waiting.poll(0):
        await AsyncConnectionPool.check_connection(connection)
