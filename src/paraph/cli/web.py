"""``paraph web``: the web server alone."""

import click

from paraph.cli.options import address_options, data_dir_option
from paraph.cli.session import set_up
from paraph.cli.web_process import check_port, run
from paraph.kernel.settings import read_settings


@click.command()
@address_options
@data_dir_option
def command() -> None:
    """Run the web server, with the database and the workers elsewhere."""
    check_port(read_settings())
    set_up(tasks=True)
    from paraph.cli.prepare import check_in_child

    check_in_child()
    run()
