"""``paraph person show``."""

import json
from pathlib import Path

import click

from paraph.cli.options import operator_options
from paraph.cli.session import database


@click.group()
def command() -> None:
    """What is kept of a person; `paraph erase` erases it."""


@command.command("show")
@click.argument("address")
@click.option("--pdf", type=click.Path(path_type=Path, dir_okay=False), help="PDF file to write, to hand over.")
@operator_options
def show_person(address: str, *, pdf: Path | None, as_json: bool) -> None:
    """Show everything that is kept of the person with this e-mail address or number, in all organizations.

    Each line says which command erases it, or why it stays.
    """
    with database():
        from paraph.flow.personal_data.erase import show_person as find
        from paraph.kernel import clock
        from paraph.operations.person_file import write_person_file

        at, kept = clock.now(), find(address)
        if pdf:
            write_person_file(pdf, address.strip(), at, kept)
    if as_json:
        things = [
            {"place": each.place, "erased_by": each.erased_by, "stays": each.stays, **each.facts} for each in kept
        ]
        told = {"address": address.strip(), "at": clock.iso(at), "kept": things}
        click.echo(json.dumps(told, ensure_ascii=False, indent=1))
        return
    for each in kept:
        click.echo(f"{each.place}: {json.dumps(each.facts, ensure_ascii=False)}")
        click.echo(f"    {each.erased_by or each.stays}")
    if not kept:
        click.echo("Nothing is kept under this address or number.")
