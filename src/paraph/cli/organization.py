"""``paraph organization create``."""

import click

from paraph.cli.options import data_dir_option, json_option, show
from paraph.cli.session import database


@click.group()
def command() -> None:
    """Organizations."""


@command.command()
@click.argument("name")
@click.option("--plan", required=True, help="free, pro or enterprise")
@data_dir_option
@json_option
def create(name: str, plan: str, *, as_json: bool) -> None:
    """Make an organization."""
    with database():
        from paraph.organizations.registration import create_organization

        made = create_organization(name, plan)
        show({"id": made.pk, "name": made.name, "plan": made.plan}, as_json=as_json)
