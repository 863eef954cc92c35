"""``paraph restore``: what a backup holds, where there is nothing yet."""

import json
from pathlib import Path

import click

from paraph.cli.options import operator_options
from paraph.cli.session import database_to_fill, set_up
from paraph.kernel.settings import read_settings
from paraph.operations.backup import restore
from paraph.operations.backup.archive import Archive, checked_archive


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@operator_options
@click.pass_context
def command(context: click.Context, file: Path, *, as_json: bool) -> None:
    """Restore a backup into an empty data folder, or an empty database and bucket.

    The file is read whole before anything is written; the database comes last. Then every object is compared with its
    row. Ends with 1 when one is missing or changed.
    """
    with checked_archive(file, "backup") as archive, database_to_fill() as url:
        objects = _restore(archive, url)
        from paraph.operations.migrations import migrate
        from paraph.operations.store_check import problems_with_named_objects

        migrate()
        restore.give_no_number_twice()
        problems = problems_with_named_objects()
    restored = {"objects": objects, "problems": problems}
    if as_json:
        click.echo(json.dumps(restored, ensure_ascii=False))
    else:
        click.echo(f"Restored: the database and {objects} objects. Run paraph check once the service runs.")
        for problem in problems:
            click.echo(f"{problem['problem']}: {problem['key']} ({problem['row']})")
    context.exit(1 if problems else 0)


def _restore(archive: Archive, url: str) -> int:
    settings = read_settings()
    restore.require_nothing_there(archive, settings, url)
    again = restore.is_unfinished(settings)
    with restore.unfinished(settings):
        restore.restore_secret_and_keys(archive, settings)
        set_up(tasks=False)
        if not again:
            restore.require_empty_store()
        objects = restore.restore_objects(archive)
        restore.load_database(archive, settings.data_dir, url)
    return objects
