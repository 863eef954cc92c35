"""``paraph verify-store``: rows against objects, both ways."""

import json
from pathlib import Path

import click

from paraph.cli.options import operator_options
from paraph.cli.session import database


@click.command()
@click.option("--rate", type=click.FloatRange(0.1), default=50.0, show_default=True, help="MB per second, at most.")
@click.option("--seconds", type=click.FloatRange(0), help="Stop after this long; the next run continues there.")
@click.option("--restart", is_flag=True, help="Start over, even if the last run was stopped.")
@operator_options
@click.pass_context
def command(context: click.Context, *, rate: float, seconds: float | None, restart: bool, as_json: bool) -> None:
    """Compare every object with its row, and look for objects without one.

    Goes on where the last run was stopped. Ends with 1 when objects are missing, changed, unreadable, or named by no
    row for an hour.
    """
    with database():
        from django.conf import settings

        from paraph.operations.store_check import verify_store

        progress: Path = settings.DATA_DIR / "verify-store.json"
        if restart:
            progress.unlink(missing_ok=True)
        found = verify_store(progress, rate * 1_000_000, float("inf") if seconds is None else seconds)
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
    else:
        for problem in found["problems"]:
            click.echo(f"{problem['problem']}: {problem['key']} ({problem['row'] or 'no row'})")
        state = "Finished" if found["finished"] else "Stopped; the next run goes on from here"
        click.echo(f"{state}: {found['objects']} objects, {found['bytes']} bytes, {found['found']} problems.")
    context.exit(1 if found["found"] else 0)
