"""``paraph backup``: everything in one file, while the service runs."""

import json
from pathlib import Path

import click

from paraph.cli.options import operator_options
from paraph.cli.session import database


@click.command()
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="File to write.")
@operator_options
@click.pass_context
def command(context: click.Context, *, out: Path, as_json: bool) -> None:
    """Write database, objects, secret and keys into one file, which paraph restore reads.

    It holds the secret: keep it as such. Ends with 1 when objects are missing or changed; the file is made all the
    same, with what there is.
    """
    with database():
        from paraph.operations.backup.write import write_backup

        made = write_backup(out.absolute())
    if as_json:
        click.echo(json.dumps(made, ensure_ascii=False))
    else:
        click.echo(f"{made['file']}: {made['bytes']} bytes, {made['objects']} objects")
        for problem in made["problems"]:
            click.echo(f"{problem['problem']}: {problem['key']} ({problem['row']})")
    context.exit(1 if made["problems"] else 0)
