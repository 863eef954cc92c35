"""``paraph check``, ``paraph migrate`` and ``paraph secret``: whether the service works, its tables, its secret."""

from typing import Any

import click

from paraph.cli.options import data_dir_option, json_option, newer_tables_option, operator_options, show, show_lines
from paraph.cli.session import database


@click.command()
@operator_options
@click.option("--only", "names", multiple=True, help="Run only this check, such as workers or clock. Can be repeated.")
@click.pass_context
def check(context: click.Context, *, as_json: bool, names: tuple[str, ...]) -> None:
    """Test every part of the service, one line each: ok, warning or failed.

    Seals and verifies a test file, asks each timestamp authority, logs in to the gateways. Exits with 0 if nothing
    failed, else with 1.
    """
    with database():
        from paraph.operations.check.service_checks import run_checks, run_lines

        outcomes = run_lines(names) if names else run_checks()
    facts = [{"name": outcome.name, "status": outcome.status, "sentence": outcome.sentence} for outcome in outcomes]
    lines = (f"{outcome.status:<7}  {outcome.name}: {outcome.sentence}" for outcome in outcomes)
    show_lines(facts, lines, as_json=as_json)
    context.exit(1 if any(outcome.status == "failed" for outcome in outcomes) else 0)


@click.command()
@data_dir_option
@newer_tables_option
@json_option
def migrate(*, newer_tables: bool, as_json: bool) -> None:
    """Update the database tables to this version."""
    with database() as operator:
        from paraph.operations.migrations import migrate as apply_missing
        from paraph.tenants.admin_log import note

        count = apply_missing(newer_tables=newer_tables)
        if count:
            note(None, operator, "migrate", after={"applied": count})
    show({"applied": count}, as_json=as_json)


@click.group()
def secret() -> None:
    """The secret that all keys of the service derive from."""


@secret.command()
@operator_options
@click.pass_context
def rotate(context: click.Context, *, as_json: bool) -> None:
    """Start using the newest secret, and re-encrypt what earlier ones encrypted, while the service runs.

    Every machine must have both secrets first. Can be repeated; exits with 1 while something is left.
    """
    with database():
        from paraph.operations.secret_rotation import rotate as rotate_secret

        _show_state(context, rotate_secret(), as_json=as_json)


@secret.command()
@operator_options
@click.pass_context
def status(context: click.Context, *, as_json: bool) -> None:
    """Show which secret is in use, and what earlier ones still open; exits with 1 while something is left."""
    with database():
        from paraph.operations.secret_rotation import status as secret_status

        _show_state(context, secret_status(), as_json=as_json)


def _show_state(context: click.Context, found: dict[str, Any], *, as_json: bool) -> None:
    lines = [f"The {found['in_use']} secret is in use" + (f" since {found['since']}." if found["since"] else ".")]
    if found["in_use"] == "earlier":
        lines.append("Once all machines have both, run paraph secret rotate.")
    lines += [f"{word.replace('_', ' ')}: {count} left" for word, count in found["left"].items() if count]
    lines += [f"{name}: no secret of this machine opens it" for name in found["unreadable"]]
    if found["done"]:
        lines.append("Nothing is left: earlier secrets can be taken away from all machines.")
    if found["links_until"]:
        lines.append(f"Codes and addresses of downloads given before may need them until {found['links_until']}.")
    show_lines(found, lines, as_json=as_json)
    context.exit(0 if found["done"] else 1)
