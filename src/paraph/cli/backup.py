"""``paraph backup``, ``paraph restore``, ``paraph export`` and ``paraph import``: the service in one file, and back."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from paraph.cli.options import operator_options, show, show_lines
from paraph.cli.session import database, database_to_fill, noted_operator, set_up
from paraph.kernel.settings import read_settings
from paraph.operations.backup import restore as restoring
from paraph.operations.backup.archive import Archive, checked_archive

_NEW_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.option("--out", type=_NEW_FILE, required=True, help="File to write.")
@click.option("--tried", is_flag=True, help="Restore the database into a temporary server, and count its rows.")
@operator_options
@click.pass_context
def backup(context: click.Context, *, out: Path, tried: bool, as_json: bool) -> None:
    """Write the database, objects, secret and keys to one file, for paraph restore.

    The file is read back, and contains the secret: protect it accordingly. Exits with 1 if objects are missing or
    changed; the file is written anyway, with what there is.
    """
    with database():
        from paraph.operations.backup.write import write_backup

        made = write_backup(out.absolute(), tried=tried)
    first = f"{made['file']}: {made['bytes']} bytes, {made['objects']} objects, {made['rows']} rows"
    first += ", all of which were restored into a temporary server" if tried else ""
    show_lines(made, [first, *_problems(made["problems"])], as_json=as_json)
    context.exit(1 if made["problems"] else 0)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@operator_options
@click.pass_context
def restore(context: click.Context, file: Path, *, as_json: bool) -> None:
    """Restore a backup into an empty data folder, or an empty database and bucket.

    The whole file is read before anything is written; the database comes last. Then every object is compared with its
    row. Exits with 1 if one is missing or changed.
    """
    with checked_archive(file, "backup") as archive, database_to_fill() as url:
        objects = _restore(archive, url)
        from paraph.database.migrations import migrate
        from paraph.operations.store import problems_with_named_objects

        migrate()
        restoring.give_no_number_twice()
        noted_operator()
        restoring.note_backup(archive)
        problems = problems_with_named_objects()
    first = f"Restored: the database and {objects} objects. Run paraph check once the service runs."
    show_lines({"objects": objects, "problems": problems}, [first, *_problems(problems)], as_json=as_json)
    context.exit(1 if problems else 0)


def _restore(archive: Archive, url: str) -> int:
    settings = read_settings()
    restoring.require_nothing_there(archive, settings, url)
    with restoring.unfinished(settings) as again:
        restoring.restore_secret_and_keys(archive, settings)
        set_up(tasks=False)
        if not again:
            restoring.require_empty_store()
        objects = restoring.restore_objects(archive)
        restoring.load_database(archive, settings.data_dir, url)
    return objects


@click.command()
@click.option("--out", type=_NEW_FILE, required=True, help="File to write.")
@operator_options
def export(*, out: Path, as_json: bool) -> None:
    """Write the database to a file, for paraph import on another server.

    Stop the service first: later changes are not in the file. Objects, secret and keys stay where they are.
    """
    with database():
        from paraph.operations.backup.write import write_export

        made = write_export(out.absolute())
    show(made, as_json=as_json)


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@operator_options
def import_(file: Path, *, as_json: bool) -> None:
    """Import a file from paraph export into the empty database in DATABASE_URL, or the embedded one.

    The secret must be the same as for the export. Imports everything or nothing.
    """
    settings = read_settings()
    with checked_archive(file, "export") as archive, database_to_fill() as url:
        restoring.require_same_secret(archive, settings)
        restoring.require_empty_database(url)
        restoring.load_database(archive, settings.data_dir, url)
        set_up(tasks=False)
        from paraph.database.migrations import migrate

        applied = migrate()
        restoring.give_no_number_twice()
        noted_operator()
    show({"imported": True, "applied": applied}, as_json=as_json)


def _problems(problems: Iterable[dict[str, Any]]) -> list[str]:
    return [f"{problem['problem']}: {problem['key']} ({problem['row']})" for problem in problems]
