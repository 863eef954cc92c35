"""``paraph export``: the database alone, for another server."""

from pathlib import Path

import click

from paraph.cli.options import operator_options, show
from paraph.cli.session import database


@click.command()
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="File to write.")
@operator_options
def command(*, out: Path, as_json: bool) -> None:
    """Write the database into a file, which paraph import reads on another server.

    Stop the service first: what it does afterwards is not in the file. Objects, secret and keys stay where they are.
    """
    with database():
        from paraph.operations.backup.write import write_export

        made = write_export(out.absolute())
    show(made, as_json=as_json)
