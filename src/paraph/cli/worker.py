"""``paraph worker``: one job worker process."""

import os
import signal

import click

from paraph.cli.options import data_dir_option
from paraph.cli.session import set_up
from paraph.cli.start_line import log_start
from paraph.cli.worker_metrics import serve_metrics
from paraph.cli.worker_process import run
from paraph.kernel.settings import read_settings


@click.command()
@data_dir_option
@click.option("--metrics-port", type=click.IntRange(1, 65535), help="Port of /metrics, at the address of PARAPH_HOST.")
def command(metrics_port: int | None) -> None:
    """Run one job worker, with the database elsewhere."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))  # until it works there is nothing to finish
    set_up(tasks=True)
    log_start("worker")
    from paraph.operations.check.service_checks import require_start

    require_start()
    if metrics_port:
        settings = read_settings()
        serve_metrics(settings.host, metrics_port, settings.metrics_token)
    run()
