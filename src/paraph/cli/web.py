"""``paraph web``: the web server alone."""

import click

from paraph.cli.options import address_options, data_dir_option
from paraph.cli.session import set_up
from paraph.cli.start_line import log_start
from paraph.cli.web_process import check_address, run
from paraph.kernel.settings import read_settings

_DRAIN_SECONDS = 5  # a load balancer stands before it


@click.command()
@address_options
@data_dir_option
def command() -> None:
    """Run the web server, with the database and the workers elsewhere."""
    settings = read_settings()
    check_address(settings)
    set_up(tasks=True)
    log_start("web")
    from paraph.cli.prepare import check_in_child

    check_in_child()
    run(_DRAIN_SECONDS if settings.drain_seconds is None else settings.drain_seconds)
