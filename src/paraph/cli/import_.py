"""``paraph import``: an exported database into an empty one."""

from pathlib import Path

import click

from paraph.cli.options import operator_options, show
from paraph.cli.session import database_to_fill, set_up
from paraph.kernel.settings import read_settings
from paraph.operations.backup import restore
from paraph.operations.backup.archive import checked_archive


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@operator_options
def command(file: Path, *, as_json: bool) -> None:
    """Read what paraph export wrote into the empty database of DATABASE_URL, or the embedded one.

    The secret must be the one of the export. All or nothing is imported.
    """
    settings = read_settings()
    with checked_archive(file, "export") as archive, database_to_fill() as url:
        restore.require_same_secret(archive, settings)
        restore.require_empty_database(url)
        restore.load_database(archive, settings.data_dir, url)
        set_up(tasks=False)
        from paraph.operations.migrations import migrate

        applied = migrate()
        restore.give_no_number_twice()
    show({"imported": True, "applied": applied}, as_json=as_json)
