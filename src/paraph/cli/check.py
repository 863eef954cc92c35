"""``paraph check``: tries every part of the service."""

import json

import click

from paraph.cli.options import operator_options
from paraph.cli.session import database


@click.command()
@operator_options
@click.option("--only", "names", multiple=True, help="Only this line, such as workers or clock; may be repeated.")
@click.pass_context
def command(context: click.Context, *, as_json: bool, names: tuple[str, ...]) -> None:
    """Try every part of the service, one line each: ok, warning or failed.

    Seals and verifies a test file, asks each timestamp authority, logs in to the gateways. Ends with 0 only when
    nothing failed, else with 1.
    """
    with database():
        from paraph.operations.check.service_checks import run_checks, run_lines

        outcomes = run_lines(names) if names else run_checks()
    if as_json:
        facts = [{"name": outcome.name, "status": outcome.status, "sentence": outcome.sentence} for outcome in outcomes]
        click.echo(json.dumps(facts, ensure_ascii=False))
    else:
        for outcome in outcomes:
            click.echo(f"{outcome.status:<7}  {outcome.name}: {outcome.sentence}")
    context.exit(1 if any(outcome.status == "failed" for outcome in outcomes) else 0)
