"""``paraph inbox`` and ``paraph webhook``: the messages that were captured, and what was delivered to receivers."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paraph.cli.options import last_outcome, operator_options, show, show_lines
from paraph.cli.session import database
from paraph.kernel import clock
from paraph.kernel.errors import DomainError

if TYPE_CHECKING:
    from paraph.messaging.models import CapturedMessage

_HTML = "Write each mail as an HTML file into this folder, to open in a browser."


@click.command()
@click.option("--html", "folder", type=click.Path(file_okay=False, path_type=Path), help=_HTML)
@operator_options
def inbox(folder: Path | None, *, as_json: bool) -> None:
    """Show captured messages, newest last."""
    with database():
        from paraph.messaging.gateways import captured_messages

        captured = list(captured_messages())
    if folder:
        _write(folder, captured)
    facts = [_facts(message, folder) for message in captured]
    lines: list[str] = []
    for message in facts:
        lines.append(f"{message['created_at']}  {message['channel']}  {message['to']}  {message['subject']}")
        lines += [f"    {message['file']}"] if "file" in message else []
        lines.append("    " + message["text"].replace("\n", "\n    ") + "\n")
    show_lines(facts, lines, as_json=as_json)


def _write(folder: Path, captured: "list[CapturedMessage]") -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # links and codes are secrets
        for message in captured:
            if message.html:
                _file(folder, message).write_text(message.html, "utf-8")
    except OSError as error:
        raise DomainError("configuration", f"{folder} cannot be written to: {error.strerror}.") from error


def _facts(message: "CapturedMessage", folder: Path | None) -> dict[str, str]:
    facts = {name: getattr(message, name) for name in ("to", "channel", "subject", "text", "html")}
    facts["created_at"] = clock.iso(message.created_at)
    return facts | ({"file": str(_file(folder, message))} if folder and message.html else {})


def _file(folder: Path, message: "CapturedMessage") -> Path:
    """Return the path of a message's file, which is named by its number: an address may hold a slash."""
    return folder / f"{message.pk:06d}.html"


@click.group()
def webhook() -> None:
    """Webhook deliveries: show them, or send them again."""


@webhook.command("list")
@click.option("--failed", is_flag=True, help="Only those that failed for good.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="How many at most.")
@operator_options
def list_(*, failed: bool, limit: int, as_json: bool) -> None:
    """Show deliveries, newest first."""
    with database():
        from paraph.webhooks.all_deliveries import latest_deliveries

        listed = latest_deliveries(failed_only=failed, limit=limit)
    show_lines(listed, map(_line, listed), as_json=as_json)


@webhook.command()
@click.argument("delivery", type=int, required=False)
@click.option("--request", type=int, help="All deliveries of this signature request.")
@click.option("--since", help="All failed deliveries of events since this time, such as 2030-05-17T08:00:00Z.")
@click.option("--delivered", is_flag=True, help="With --since, also those that succeeded.")
@operator_options
def replay(delivery: int | None, request: int | None, since: str | None, *, delivered: bool, as_json: bool) -> None:
    """Send deliveries again, by number, by request or by time."""
    if [delivery, request, since].count(None) != 2:
        raise click.UsageError("Give a delivery's number, --request or --since.")
    if delivered and since is None:
        raise click.UsageError("--delivered requires --since.")
    with database():
        from paraph.webhooks import all_deliveries

        if delivery is not None:
            count = all_deliveries.replay_delivery(delivery)
        elif request is not None:
            count = all_deliveries.replay_request(request)
        else:
            count = all_deliveries.replay_since(_moment(since or ""), delivered_too=delivered)
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
        sentence = f"--since must be a time such as 2030-05-17T08:00:00Z, not {text!r}."
        raise DomainError("validation_error", sentence) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
