"""``paraph inbox``: the messages that were captured because no gateway is set."""

import json

import click

from paraph.cli.options import data_dir_option, json_option
from paraph.cli.session import database
from paraph.kernel import clock


@click.command()
@data_dir_option
@json_option
def command(*, as_json: bool) -> None:
    """Show captured messages, newest last."""
    with database():
        from paraph.messaging.inbox import messages

        captured = [
            {
                "to": message.to,
                "channel": message.channel,
                "subject": message.subject,
                "text": message.text,
                "created_at": clock.iso(message.created_at),
            }
            for message in messages()
        ]
    if as_json:
        click.echo(json.dumps(captured, ensure_ascii=False))
        return
    for message in captured:
        click.echo(f"{message['created_at']}  {message['channel']}  {message['to']}  {message['subject']}")
        click.echo("    " + message["text"].replace("\n", "\n    ") + "\n")
