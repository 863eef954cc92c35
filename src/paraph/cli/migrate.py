"""``paraph migrate``: brings the tables of the database to what this version expects."""

import click

from paraph.cli.options import data_dir_option, json_option, newer_tables_option, show
from paraph.cli.session import database


@click.command()
@data_dir_option
@newer_tables_option
@json_option
def command(*, newer_tables: bool, as_json: bool) -> None:
    """Bring the database's tables to this version."""
    with database():
        from paraph.operations.migrations import migrate

        count = migrate(newer_tables=newer_tables)
    show({"applied": count}, as_json=as_json)
