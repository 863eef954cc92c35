"""The worker of one queue in a process, which outlives every outage of the database."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import structlog
from asgiref.sync import sync_to_async
from django.db import close_old_connections
from procrastinate.contrib.django import app
from procrastinate.contrib.django.utils import connector_params
from procrastinate.exceptions import ConnectorException
from procrastinate.psycopg_connector import PsycopgConnector
from procrastinate.worker import Worker
from psycopg import AsyncConnection, InterfaceError, OperationalError
from psycopg import Error as DatabaseError
from psycopg.abc import PQGen
from psycopg_pool import AsyncConnectionPool

from paraph.database.connections import IDLE_SECONDS, connect, first_statement, is_readable
from paraph.database.outage import cause_of_outage

_CONNECTIONS = 3  # to fetch jobs, to store their results, for the heartbeat
_HEARTBEAT_SECONDS = 3
_POLL_SECONDS = 3  # for jobs that were put off; the database notifies the worker of new ones
_FORGOTTEN_AFTER_SECONDS = 120  # long after a dead worker's jobs were rescued, which needs its last heartbeat
_PAUSE_SECONDS = 1
_HAND_BACK_SECONDS = 2
STILL_SECONDS = 300.0  # beyond any timeout of a connection, and most waits for a lock
LONGEST_SECONDS = 7200.0  # no job, and no upkeep, takes so long

_log = structlog.get_logger("paraph.worker")


class QueueWorker:
    """Do the jobs of a queue until it is asked to stop, in a sequence of sessions. A session ends when any statement
    fails because the database is away, since it is then unknown which jobs the database believes to be running. The
    next session begins as soon as the database answers, under a new registration: the jobs of the old one are put back
    into the queue, and no worker is suspected to have died."""

    def __init__(self, queue: str, concurrency: int) -> None:
        self.queue = queue
        self._concurrency = concurrency
        self._stopping = asyncio.Event()
        self._ended = asyncio.Event()  # set when the session ends: a connection was lost, or the worker is to stop
        self._worker: Worker | None = None
        self.away = False
        """Whether the database did not answer when it was asked last."""
        self._turned_at = time.monotonic()
        self._begun: list[float] = []  # when each running job was begun

    @property
    def due(self) -> float:
        """The time, on the monotonic clock, by which the worker has to show a sign of life: to have looked for a job,
        if it has a place for one, or for the database; and to have ended each running job."""
        has_place = len(self._begun) < self._concurrency
        looks = [self._turned_at + STILL_SECONDS] if has_place else []
        return min(looks + [begun + LONGEST_SECONDS for begun in self._begun])

    async def run(self) -> None:
        """Work until :meth:`stop` was called and the running jobs have ended."""
        while not self._stopping.is_set():
            try:
                await try_connection()
                await self._session()
            except (ConnectorException, DatabaseError) as fault:
                self._note("the database does not answer the worker", away=True, cause=cause_of_outage(fault))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), _PAUSE_SECONDS)

    def stop(self) -> None:
        """Fetch no more jobs. Nothing is cancelled: a cancellation that comes while a connection is made
        can get lost (``asyncio.wait_for`` before Python 3.12)."""
        self._stopping.set()
        self._ended.set()

    async def hand_back(self) -> None:
        """Put the running jobs back into the queue for other workers. To be called just before the process ends."""
        if self._worker and self._worker.worker_id is not None:
            with suppress(ConnectorException, DatabaseError, TimeoutError):
                forget = self._worker.app.job_manager.unregister_worker(self._worker.worker_id)
                await asyncio.wait_for(forget, _HAND_BACK_SECONDS)

    async def _session(self) -> None:
        before, self._worker = self._worker, None
        if not self._stopping.is_set():
            self._ended.clear()
        answers = partial(self._note, "the database answers the worker again", away=False)
        connected = app.with_connector(Connector(_CONNECTIONS, self._ended.set, answers))
        async with connected.open_async():
            # Periodic jobs are deferred on this thread's Django connection, which nothing else would renew.
            await sync_to_async(close_old_connections)()
            if before and before.worker_id is not None:
                await connected.job_manager.unregister_worker(before.worker_id)
            options: dict[str, Any] = {
                **connected.worker_defaults,
                "queues": [self.queue],
                "concurrency": self._concurrency,
                "fetch_job_polling_interval": _POLL_SECONDS,
                "update_heartbeat_interval": _HEARTBEAT_SECONDS,
                "stalled_worker_timeout": _FORGOTTEN_AFTER_SECONDS,
                "delete_jobs": "successful",
                "install_signal_handlers": False,
                "worker_middleware": [self._run_job],
            }
            worker: Any = Worker(connected, **options)
            self._worker = worker
            running = asyncio.create_task(worker.run())
            ended = asyncio.create_task(self._ended.wait())
            await asyncio.wait({running, ended}, return_when=asyncio.FIRST_COMPLETED)
            ended.cancel()
            worker.stop()
            await running

    async def _run_job(self, run: Callable[[], Awaitable[Any]], *_: object) -> Any:
        begun = time.monotonic()
        self._begun.append(begun)
        try:
            return await run()
        finally:
            self._begun.remove(begun)
            self._turned_at = time.monotonic()

    def _note(self, words: str, *, away: bool, **cause: str) -> None:
        if self.away != away:
            _log.warning(words, queue=self.queue, **cause)
        self.away, self._turned_at = away, time.monotonic()


_CONNECTION_SECONDS = 5.0  # how long a statement waits for a connection
_INTERVAL_SECONDS = 5.0


async def try_connection() -> None:
    """Raise ``psycopg.OperationalError`` when the database, or a pooler before it, gives no session in time."""
    made = await asyncio.to_thread(connect, seconds=_CONNECTION_SECONDS, **connector_params())
    made.close()


class Connector(PsycopgConnector):
    """Connect procrastinate to Django's database. Each statement commits by itself: one round trip instead of four.
    ``lost`` is called when a statement fails because the database is away or the connection is lost, which
    procrastinate does not report; ``asked`` each time that the database has answered which job is next, if any."""

    def __init__(
        self, max_connections: int, lost: Callable[[], None] = lambda: None, asked: Callable[[], None] = lambda: None
    ) -> None:
        pool: dict[str, Any] = {"min_size": 1, "max_size": max_connections, "timeout": _CONNECTION_SECONDS}
        pool |= {"connection_class": _QuietConnection, "configure": _configure, "max_idle": IDLE_SECONDS}
        super().__init__(pool_factory=_pool, kwargs=connector_params(), **pool)
        self._lost, self._asked = lost, asked

    async def execute_query_one_async(self, query: Any, **arguments: Any) -> dict[str, Any]:
        row: dict[str, Any] = await super().execute_query_one_async(query, **arguments)
        self._asked()  # such a statement registers the worker, or fetches a job
        return row

    @asynccontextmanager
    async def _get_cursor(self, *connection: Any, **named: Any) -> AsyncIterator[Any]:
        """Return the cursor that every statement uses, and call ``lost`` if the statement fails."""
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
    """A connection that sleeps until its server sends something. Psycopg's own wakes ten times a second, even while a
    worker has nothing to do, to see whether it was interrupted; here, the event loop notices that."""

    async def wait(self, gen: PQGen[Any], interval: float = _INTERVAL_SECONDS, timeout: float | None = None) -> Any:
        return await super().wait(gen, interval, timeout)


async def _configure(connection: AsyncConnection) -> None:
    await connection.set_autocommit(True)
    await connection.execute(first_statement(connection))


async def _check(connection: AsyncConnection) -> None:
    """Check a connection by a statement only if its socket has something to read: a server that went away closed it."""
    if is_readable(connection.fileno()):
        await AsyncConnectionPool.check_connection(connection)
