"""``paraph organization create`` and ``update``."""

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


@command.command()
@click.argument("id", type=int)
@click.option(
    "--refuse-changeable/--accept-changeable",
    "refuse",
    required=True,
    default=None,
    help="Whether production takes documents that print differently than they are shown, or can change what they show.",
)
@data_dir_option
@json_option
def update(id: int, *, refuse: bool, as_json: bool) -> None:
    """Change what an organization's documents may be."""
    with database():
        from paraph.organizations.registration import update_organization

        changed = update_organization(id, refuse_changeable_documents=refuse)
        facts = {
            "id": changed.pk,
            "name": changed.name,
            "refuse_changeable_documents": changed.refuse_changeable_documents,
        }
        show(facts, as_json=as_json)
