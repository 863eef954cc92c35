"""``paraph worker``: one job worker process."""

import click

from paraph.cli.options import data_dir_option
from paraph.cli.session import set_up
from paraph.cli.worker_process import run


@click.command()
@data_dir_option
def command() -> None:
    """Run one job worker, with the database elsewhere."""
    set_up(tasks=True)
    from paraph.operations.check.start import require_start

    require_start()
    run()
