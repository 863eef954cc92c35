"""``paraph secret``: rotate, status."""

import json
from typing import Any

import click

from paraph.cli.options import operator_options
from paraph.cli.session import database


@click.group()
def command() -> None:
    """The secret that all keys of the service derive from."""


@command.command()
@operator_options
@click.pass_context
def rotate(context: click.Context, *, as_json: bool) -> None:
    """Put the newest secret into use, and encrypt with it what earlier ones encrypted, while the service works.

    Every machine must have both secrets before. Can be repeated; ends with 1 while something is left.
    """
    with database():
        from paraph.operations.secret_rotation import rotate as rotate_secret

        _tell(context, rotate_secret(), as_json=as_json)


@command.command()
@operator_options
@click.pass_context
def status(context: click.Context, *, as_json: bool) -> None:
    """Show which secret is in use, and what earlier ones still open; ends with 1 while something is left."""
    with database():
        from paraph.operations.secret_rotation import status as secret_status

        _tell(context, secret_status(), as_json=as_json)


def _tell(context: click.Context, found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
        context.exit(0 if found["done"] else 1)
    click.echo(f"The {found['in_use']} secret is in use" + (f" since {found['since']}." if found["since"] else "."))
    if found["in_use"] == "earlier":
        click.echo("Once all machines have both, run paraph secret rotate.")
    for word, count in found["left"].items():
        if count:
            click.echo(f"{word.replace('_', ' ')}: {count} left")
    for name in found["unreadable"]:
        click.echo(f"{name}: no secret of this machine opens it")
    if found["done"]:
        click.echo("Nothing is left: earlier secrets can be taken away from all machines.")
    if found["links_until"]:
        click.echo(f"Codes and addresses of downloads given before may need them until {found['links_until']}.")
    context.exit(0 if found["done"] else 1)
