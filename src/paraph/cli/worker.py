"""``paraph worker``: one job worker process."""

import asyncio
import logging
import time

import click

from paraph.cli.options import data_dir_option
from paraph.cli.session import set_up
from paraph.kernel.errors import DomainError

_HEARTBEAT_SECONDS = 2
_POLL_SECONDS = 1
_RESCUE_SECONDS = 2
_FORGET_SECONDS = 3600


@click.command()
@data_dir_option
def command() -> None:
    """Run one job worker, with the database elsewhere."""
    set_up(tasks=True)
    from paraph.operations.check.start import require_start

    require_start()
    run()


def run() -> None:
    """Works until SIGTERM or SIGINT; the jobs and the webhooks at hand are finished first."""
    from procrastinate.exceptions import ConnectorException

    from paraph.webhooks.pump import Pump

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
    from procrastinate.contrib.django.utils import connector_params
    from procrastinate.psycopg_connector import PsycopgConnector

    from paraph.flow.rescue import DEAD_AFTER_SECONDS

    # The tasks keep the Django connector, so that what a job defers commits with the rest of its work.
    worker = app.with_connector(PsycopgConnector(kwargs=connector_params(), min_size=1, max_size=4))
    async with worker.open_async():
        upkeep = asyncio.create_task(_keep_house())
        try:
            await worker.run_worker_async(
                concurrency=settings.PARAPH.worker_concurrency,
                fetch_job_polling_interval=_POLL_SECONDS,
                update_heartbeat_interval=_HEARTBEAT_SECONDS,
                stalled_worker_timeout=DEAD_AFTER_SECONDS,
                delete_jobs="successful",
            )
        finally:
            upkeep.cancel()


async def _keep_house() -> None:
    """A fault here (the database restarts) is logged and tried again; the worker itself notices it too."""
    from paraph.flow.rescue import forget_old_jobs, rescue_jobs

    forgotten = 0.0
    while True:
        try:
            await asyncio.to_thread(rescue_jobs)
            if time.monotonic() - forgotten > _FORGET_SECONDS:
                await asyncio.to_thread(forget_old_jobs)
                forgotten = time.monotonic()
        except Exception:
            logging.getLogger("paraph.worker").exception("the jobs of dead workers could not be looked after")
        await asyncio.sleep(_RESCUE_SECONDS)
