"""``paraph inbox``: the messages that were captured because no gateway is configured."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from paraph.cli.options import operator_options
from paraph.cli.session import database
from paraph.kernel import clock
from paraph.kernel.errors import DomainError

if TYPE_CHECKING:
    from paraph.messaging.models import CapturedMessage


@click.command()
@click.option(
    "--html",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the HTML of each mail into this folder, as a file to look at in a browser.",
)
@operator_options
def command(folder: Path | None, *, as_json: bool) -> None:
    """Show captured messages, newest last."""
    with database():
        from paraph.messaging.inbox import messages

        captured = list(messages())
    if folder:
        _write(folder, captured)
    facts = [_facts(message, folder) for message in captured]
    if as_json:
        click.echo(json.dumps(facts, ensure_ascii=False))
        return
    for message in facts:
        click.echo(f"{message['created_at']}  {message['channel']}  {message['to']}  {message['subject']}")
        if message.get("file"):
            click.echo(f"    {message['file']}")
        click.echo("    " + message["text"].replace("\n", "\n    ") + "\n")


def _write(folder: Path, captured: "list[CapturedMessage]") -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # links and codes are secrets
        for message in captured:
            if message.html:
                _file(folder, message).write_text(message.html, "utf-8")
    except OSError as error:
        raise DomainError("configuration", f"{folder} cannot be written to: {error.strerror}.") from error


def _facts(message: "CapturedMessage", folder: Path | None) -> dict[str, str]:
    facts = {
        "to": message.to,
        "channel": message.channel,
        "subject": message.subject,
        "text": message.text,
        "html": message.html,
        "created_at": clock.iso(message.created_at),
    }
    return facts | ({"file": str(_file(folder, message))} if folder and message.html else {})


def _file(folder: Path, message: "CapturedMessage") -> Path:
    """Named by the message's number: an address may hold a slash."""
    return folder / f"{message.pk:06d}.html"
