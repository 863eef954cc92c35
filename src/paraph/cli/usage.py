"""``paraph usage``: what organizations used in a month."""

import click

from paraph.cli.options import operator_options, show_list
from paraph.cli.session import database


@click.command("usage")
@click.option("--month", required=True, help="Month in UTC, such as 2026-11.")
@operator_options
def command(month: str, *, as_json: bool) -> None:
    """Show calls of the API, requests and sends from the dashboard of each organization in a month.

    billed_requests are those that the API created in production.
    """
    with database():
        from paraph.tenants.usage import month_of, usage_of_all

        try:
            first = month_of(month)
        except ValueError as problem:
            raise click.UsageError(f"--month must be a month such as 2026-11, not {month!r}.") from problem
        show_list(usage_of_all(first), as_json=as_json, none="There is no organization.")
