"""``paraph retention``: set, show, apply."""

import click

from paraph.cli.options import operator_options, show
from paraph.cli.session import database


@click.group()
def command() -> None:
    """How long the files of requests are kept."""


@command.command("set")
@click.option("--organization", type=int, required=True, help="id of the organization")
@click.option("--environment", required=True, help="sandbox or production")
@click.option("--days", type=int, help="Days after the end of a request until its files are deleted.")
@click.option("--never", is_flag=True, help="Keep files forever, which is the default.")
@operator_options
def set_(organization: int, environment: str, days: int | None, *, never: bool, as_json: bool) -> None:
    """Set when the files of an organization's requests are deleted, in one environment."""
    if (days is None) != never:
        raise click.UsageError("Give either --days or --never.")
    with database():
        from paraph.tenants.admin_log import OPERATOR
        from paraph.tenants.retention import change_retention, retention_days

        change_retention(organization, OPERATOR, {environment: days})
        show({"organization_id": organization, "days": retention_days(organization)}, as_json=as_json)


@command.command()
@operator_options
def apply(*, as_json: bool) -> None:
    """Delete now what is due, which workers do by themselves every five minutes."""
    with database():
        from paraph.flow.housekeeping.delete_files import delete_due_files

        show({"requests": delete_due_files(seconds=float("inf"))}, as_json=as_json)


@command.command("show")
@click.argument("organization", type=int)
@operator_options
def show_(organization: int, *, as_json: bool) -> None:
    """Show when the files of an organization's requests are deleted, by environment; null for never."""
    with database():
        from paraph.tenants.organizations import existing_organization
        from paraph.tenants.retention import retention_days

        existing_organization(organization)
        show({"organization_id": organization, "days": retention_days(organization)}, as_json=as_json)
