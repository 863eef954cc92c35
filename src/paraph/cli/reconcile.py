"""``paraph reconcile``: what was lost when the database went on from a standby or from an earlier moment."""

import json
from typing import Any

import click

from paraph.cli.options import operator_options
from paraph.cli.session import database


@click.command()
@click.option("--done", is_flag=True, help="What was lost is dealt with: objects without a row are removed again.")
@operator_options
@click.pass_context
def command(context: click.Context, *, done: bool, as_json: bool) -> None:
    """List what the database lost: what this machine acknowledged and sent, and objects that no row names.

    To be run on each machine once a standby took over, or the database went back to an earlier moment. Changes nothing;
    objects that no row names are kept until --done. Ends with 1 when something is missing.
    """
    with database():
        from paraph.evidence.timelines import settle, unsettled
        from paraph.operations.loss import loss

        timeline = unsettled()
        found = loss(timeline) if timeline else None
        if done:
            settle()
    facts: dict[str, Any] = {"timeline": None, "entries": [], "webhooks": [], "objects": []}
    if found:
        facts = {
            "timeline": found.timeline,
            "began_at": found.began_at.isoformat(),
            "entries": [{**each._asdict(), "noted_at": each.noted_at.isoformat()} for each in found.entries],
            "webhooks": [{**each._asdict(), "noted_at": each.noted_at.isoformat()} for each in found.webhooks],
            "objects": found.objects,
        }
    if as_json:
        click.echo(json.dumps(facts))
    else:
        _tell(facts)
    context.exit(1 if found and found.anything and not done else 0)


def _tell(facts: dict[str, Any]) -> None:
    if not facts["timeline"]:
        click.echo("The database has not gone on from a standby or an earlier moment since that was last dealt with.")
        return
    click.echo(f"The database went on from a standby or from an earlier moment on {facts['began_at']}.")
    for each in facts["entries"]:
        click.echo(f"lost: request {each['request_id']}, {each['event_type']} (acknowledged {each['noted_at']})")
    for each in facts["webhooks"]:
        click.echo(f"sent: webhook {each['delivery_id']}, {each['event_type']}, of request {each['request_id']}")
    for key in facts["objects"]:
        click.echo(f"no row names: {key}")
    counts = f"{len(facts['entries'])} entries, {len(facts['webhooks'])} webhooks, {len(facts['objects'])} objects"
    click.echo(f"{counts}. Once this is dealt with on each machine: paraph reconcile --done.")
