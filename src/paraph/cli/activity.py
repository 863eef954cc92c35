"""``paraph activity verify``: whether an activity log, or an export of one, is whole."""

import json
from pathlib import Path

import click

from paraph.cli.options import operator_options
from paraph.cli.session import database
from paraph.cli.verdict import say
from paraph.tenants.admin_log.chain import ChainCheck
from paraph.tenants.admin_log.read_export import check_export

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def command() -> None:
    """Activity logs: who changed what in an organization."""


@command.command()
@click.argument("export", type=_FILE, required=False)
@click.option("--organization", type=int, help="Check the log of this organization in the database.")
@operator_options
@click.pass_context
def verify(context: click.Context, export: Path | None, *, organization: int | None, as_json: bool) -> None:
    """Check that no entry is missing or was altered: in an export, which needs no service, or in the database.

    With both, the export must also be the beginning of the log: an entry that was taken off its end since shows so.
    Ends with 0 only when all holds, else with 1.
    """
    if export is None and organization is None:
        raise click.UsageError("Name an export, or give --organization.")
    checks = []
    if export:
        with export.open("rb") as file:
            checks.append(check_export(file))
    if organization is not None:
        checks.append(_in_database(organization, checks[0] if checks else None))
    for check in checks:
        say(json.dumps(check.to_json()) if as_json else _sentence(check))
    context.exit(0 if all(check.ok for check in checks) else 1)


def _in_database(organization_id: int, export: ChainCheck | None) -> ChainCheck:
    with database():
        from paraph.kernel.errors import DomainError
        from paraph.tenants.admin_log.export import check_log
        from paraph.tenants.models import Organization

        if not Organization.objects.filter(pk=organization_id).exists():
            raise DomainError("not_found", f"There is no organization {organization_id}.")
        return check_log(organization_id, export)


def _sentence(check: ChainCheck) -> str:
    if check.organization_id is None:
        return check.problem
    whole = f"Organization {check.organization_id}: {check.entries} entries follow from each other. {check.problem}"
    return whole.rstrip()
