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
_EXPIRE_SECONDS = 3  # due within 5 s (specification 3.1)
_RESCUE_SECONDS = 2
_FORGOTTEN_AFTER_SECONDS = 120  # long after its jobs were rescued, which goes by its last heartbeat
_FORGET_SECONDS = 3600
_HOUSEKEEPERS = 3


def run() -> None:
    """Works until SIGTERM or SIGINT; the jobs and the webhooks at hand are finished first."""
    from django.conf import settings
    from procrastinate.exceptions import ConnectorException

    from paraph.pdf.untrusted.sandbox import configure
    from paraph.webhooks.dispatcher import Pump

    # A process for each job that seals; and the one that a party which has all others cannot have, never started here.
    configure(settings.PARAPH.worker_concurrency + 1).warm()
    pump = Pump()
    pump.start()
    try:
        asyncio.run(_work())
    except ConnectorException as error:
        cause = " ".join(str(error.__cause__ or error).split())
        raise DomainError("database", f"The database does not answer the worker: {cause}") from error
    finally:
        pump.stop()


async def _work() -> None:
    from django.conf import settings
    from procrastinate.contrib.django import app
    from procrastinate.signals import on_stop

    from paraph.queue.connections import connector
    from paraph.queue.defer import LANES

    threads = ThreadPoolExecutor(len(LANES) * settings.PARAPH.worker_concurrency + _HOUSEKEEPERS)
    asyncio.get_running_loop().set_default_executor(threads)
    # The tasks keep the Django connector, so that what a job defers commits with the rest of its work.
    worker = app.with_connector(connector(3 * len(LANES)))
    async with worker.open_async():
        upkeep = _keep_house()
        lanes = [asyncio.create_task(_lane(worker, queue)) for queue in LANES]
        try:
            with on_stop(lambda: _stop(lanes)):
                await asyncio.wait(lanes, return_when=asyncio.FIRST_COMPLETED)
        finally:
            _stop(lanes)  # none of them goes on alone
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
    """Once: who is asked a second time drops the jobs at hand."""
    for task in tasks:
        if not task.cancelling():
            task.cancel()


def _keep_house() -> "list[asyncio.Task[None]]":
    """What every worker does beside its jobs, however many of them wait."""
    from paraph.flow.expire import expire_due
    from paraph.queue.stalled_jobs import forget_old_jobs, rescue_jobs

    return [
        asyncio.create_task(_again(_EXPIRE_SECONDS, expire_due, "requests that are due could not be expired")),
        asyncio.create_task(_again(_RESCUE_SECONDS, rescue_jobs, "the jobs of dead workers could not be looked after")),
        asyncio.create_task(_again(_FORGET_SECONDS, forget_old_jobs, "old jobs could not be forgotten")),
    ]


async def _again(seconds: float, work: Callable[[], object], complaint: str) -> None:
    """A fault here (the database restarts) is logged and tried again; the worker itself notices it too."""
    while True:
        try:
            await asyncio.to_thread(_with_a_good_connection, work)
        except Exception:
            logging.getLogger("paraph.worker").exception(complaint)
        await asyncio.sleep(seconds)


def _with_a_good_connection(work: Callable[[], object]) -> None:
    from django.db import close_old_connections

    close_old_connections()
    work()
