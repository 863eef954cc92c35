"""``paraph webhook list`` and ``paraph webhook replay``."""

import json
from datetime import UTC, datetime
from typing import Any

import click

from paraph.cli.options import last_outcome, operator_options, show
from paraph.cli.session import database
from paraph.kernel.errors import DomainError


@click.group()
def command() -> None:
    """Webhook deliveries: what was told to whom, and telling it again."""


@command.command("list")
@click.option("--failed", is_flag=True, help="Only those that were given up.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="How many at most.")
@operator_options
def list_(*, failed: bool, limit: int, as_json: bool) -> None:
    """Show deliveries, newest first."""
    with database():
        from paraph.webhooks.overview import deliveries

        listed = deliveries(failed_only=failed, limit=limit)
    if as_json:
        click.echo(json.dumps(listed, ensure_ascii=False))
        return
    for delivery in listed:
        click.echo(_line(delivery))


@command.command()
@click.argument("delivery", type=int, required=False)
@click.option("--request", type=int, help="Every delivery of this signature request.")
@click.option("--since", help="Every failed delivery of the events since this time, such as 2030-05-17T08:00:00Z.")
@click.option("--delivered", is_flag=True, help="With --since: also what was delivered.")
@operator_options
def replay(delivery: int | None, request: int | None, since: str | None, *, delivered: bool, as_json: bool) -> None:
    """Send deliveries again, by number, by request or by time."""
    if [delivery, request, since].count(None) != 2:
        raise click.UsageError("Name one delivery, or --request, or --since.")
    if delivered and since is None:
        raise click.UsageError("--delivered goes with --since.")
    with database():
        from paraph.webhooks import replay as replaying

        if delivery is not None:
            count = replaying.replay_delivery(delivery)
        elif request is not None:
            count = replaying.replay_request(request)
        else:
            count = replaying.replay_since(_moment(since or ""), delivered_too=delivered)
        show({"replayed": count}, as_json=as_json)


def _line(delivery: dict[str, Any]) -> str:
    following = f", next at {delivery['next_attempt_at']}" if delivery["next_attempt_at"] else ""
    of_request = f" of request {delivery['request_id']}" if delivery["request_id"] else ""
    return (
        f"{delivery['id']}  {delivery['status']}{following}  {delivery['event']}{of_request}"
        f"  {delivery['occurred_at']}  {delivery['url']}  {delivery['attempts']} attempts  {last_outcome(delivery)}"
    )


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise DomainError(
            "validation_error", f"--since must be a time such as 2030-05-17T08:00:00Z, not {text!r}."
        ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
