"""A job worker process: its lanes of jobs, its webhooks, and the upkeep that every worker does."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from paraph.kernel.errors import DomainError

if TYPE_CHECKING:
    from procrastinate import App

_HEARTBEAT_SECONDS = 2
_POLL_SECONDS = 1
_EXPIRE_SECONDS = 3  # requests expire within 5 s (specification 3.1)
_RESCUE_SECONDS = 2
_FORGOTTEN_AFTER_SECONDS = 120  # long after its jobs were rescued, for which its last heartbeat must be known
_FORGET_SECONDS = 3600
_UPKEEP_TASKS = 3


def run() -> None:
    """Works until SIGTERM or SIGINT, and finishes the running jobs and webhooks first."""
    from django.conf import settings
    from procrastinate.exceptions import ConnectorException

    from paraph.pdf.untrusted.sandbox import configure
    from paraph.webhooks.dispatcher import Dispatcher

    # One process for each job that seals, and the one reserved for other parties, which is never started here.
    configure(settings.PARAPH.worker_concurrency + 1).warm()
    dispatcher = Dispatcher()
    dispatcher.start()
    try:
        asyncio.run(_work())
    except ConnectorException as error:
        cause = " ".join(str(error.__cause__ or error).split())
        raise DomainError("database", f"The database does not answer the worker: {cause}") from error
    finally:
        dispatcher.stop()


async def _work() -> None:
    from django.conf import settings
    from procrastinate.contrib.django import app
    from procrastinate.signals import on_stop

    from paraph.queue.connections import connector
    from paraph.queue.lanes import LANES

    threads = ThreadPoolExecutor(len(LANES) * settings.PARAPH.worker_concurrency + _UPKEEP_TASKS)
    asyncio.get_running_loop().set_default_executor(threads)
    # The tasks keep Django's connector, so that the jobs which a job defers commit with the rest of its work.
    worker = app.with_connector(connector(3 * len(LANES)))
    async with worker.open_async():
        upkeep = _upkeep()
        lanes = [asyncio.create_task(_lane(worker, queue)) for queue in LANES]
        try:
            with on_stop(lambda: _stop(lanes)):
                await asyncio.wait(lanes, return_when=asyncio.FIRST_COMPLETED)
        finally:
            _stop(lanes)  # no lane goes on alone
            ended = await asyncio.gather(*lanes, return_exceptions=True)
            _stop(upkeep)
        for fault in ended:
            if isinstance(fault, Exception):
                raise fault


async def _lane(worker: "App", queue: str) -> None:
    from django.conf import settings

    await worker.run_worker_async(
        queues=[queue],
        concurrency=settings.PARAPH.worker_concurrency,
        fetch_job_polling_interval=_POLL_SECONDS,
        update_heartbeat_interval=_HEARTBEAT_SECONDS,
        stalled_worker_timeout=_FORGOTTEN_AFTER_SECONDS,
        delete_jobs="successful",
        install_signal_handlers=False,
    )


def _stop(tasks: "list[asyncio.Task[None]]") -> None:
    """Cancels each task once: a second cancellation makes a lane drop its running jobs."""
    for task in tasks:
        if not task.cancelling():
            task.cancel()


def _upkeep() -> "list[asyncio.Task[None]]":
    """The upkeep that every worker does beside its jobs, however many jobs wait."""
    from paraph.flow.expire import expire_due
    from paraph.queue.stalled_jobs import forget_old_jobs, rescue_jobs

    return [
        asyncio.create_task(_repeat(_EXPIRE_SECONDS, expire_due, "requests that are due could not be expired")),
        asyncio.create_task(
            _repeat(_RESCUE_SECONDS, rescue_jobs, "the jobs of dead workers could not be looked after")
        ),
        asyncio.create_task(_repeat(_FORGET_SECONDS, forget_old_jobs, "old jobs could not be forgotten")),
    ]


async def _repeat(seconds: float, work: Callable[[], object], message: str) -> None:
    """Repeats the work for ever. A fault, such as a restart of the database, is logged."""
    while True:
        try:
            await asyncio.to_thread(_with_fresh_connection, work)
        except Exception:
            logging.getLogger("paraph.worker").exception(message)
        await asyncio.sleep(seconds)


def _with_fresh_connection(work: Callable[[], object]) -> None:
    from django.db import close_old_connections

    close_old_connections()
    work()
