"""``paraph storage``: encrypt."""

import json
from pathlib import Path

import click

from paraph.cli.options import operator_options
from paraph.cli.session import database


@click.group()
def command() -> None:
    """The store of uploads, sealed files and proofs."""


@command.command()
@click.option("--seconds", type=click.FloatRange(0), help="Stop after this long; the next run continues there.")
@operator_options
@click.pass_context
def encrypt(context: click.Context, *, seconds: float | None, as_json: bool) -> None:
    """Encrypt stored files with PARAPH_STORAGE_KEY, while the service works.

    Where an earlier storage key opens a file, only its own key is encrypted anew. Goes on where the last run was
    stopped. Ends with 1 when files are missing or cannot be read.
    """
    with database():
        from django.conf import settings

        from paraph.operations.store_encryption import encrypt_store

        progress: Path = settings.DATA_DIR / "storage-encrypt.json"
        found = encrypt_store(progress, float("inf") if seconds is None else seconds)
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
    else:
        for problem in found["problems"]:
            click.echo(f"{problem['problem']}: {problem['key']}")
        state = "Finished" if found["finished"] else "Stopped; the next run goes on from here"
        click.echo(f"{state}: {found['objects']} objects, {found['encrypted']} of them encrypted now.")
    context.exit(1 if found["problems"] else 0)
