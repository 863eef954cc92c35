"""``paraph application``: create, list, update, rotate, revoke; ``paraph key``: list, revoke."""

from datetime import timedelta
from typing import Any

import click

from paraph.cli.options import operator_options, show, show_list
from paraph.cli.session import database

_FRAME_ORIGIN = "Site that may embed signing pages, such as https://example.com. Can be repeated."
_OVERLAP = "How long the old key and secret stay valid."


@click.group()
def command() -> None:
    """Applications and their API keys."""


@command.command()
@click.option("--organization", type=int, required=True, help="ID of the organization.")
@click.option("--environment", required=True, help="sandbox or production")
@click.option("--name", required=True)
@click.option("--webhook-url", default="", help="http or https URL to send webhooks to.")
@click.option("--frame-origin", "origins", multiple=True, help=_FRAME_ORIGIN)
@operator_options
def create(
    organization: int, environment: str, name: str, webhook_url: str, origins: tuple[str, ...], *, as_json: bool
) -> None:
    """Create an application. Its API key and webhook secret are shown only once."""
    with database() as operator:
        from paraph.tenants.applications import create_application
        from paraph.tenants.overview import application_facts

        made = create_application(
            organization, operator, environment=environment, name=name, webhook_url=webhook_url, origins=origins
        )
        secrets = {"api_key": made.api_key, "webhook_secret": made.webhook_secret}
        show({**application_facts(made.application), **secrets}, as_json=as_json)


@command.command("list")
@click.option("--organization", type=int, help="Only those of this organization.")
@operator_options
def list_(organization: int | None, *, as_json: bool) -> None:
    """Show applications, and when their keys were last used."""
    with database():
        from paraph.tenants.overview import applications

        show_list(applications(organization), as_json=as_json, none="There is no application.")


@command.command()
@click.argument("id", type=int)
@click.option("--name")
@click.option("--webhook-url", help='New http or https URL to send webhooks to; "" for none.')
@click.option("--frame-origin", "origins", multiple=True, help=_FRAME_ORIGIN)
@click.option("--any-frame-origin", "any_origin", is_flag=True, help="Let any site embed signing pages.")
@operator_options
def update(
    id: int, name: str | None, webhook_url: str | None, origins: tuple[str, ...], *, any_origin: bool, as_json: bool
) -> None:
    """Change an application's name, webhook URL, or the sites that may embed its signing pages."""
    if origins and any_origin:
        raise click.UsageError("Use either --frame-origin, which can be repeated, or --any-frame-origin.")
    given = {"name": name, "webhook_url": webhook_url, "origins": origins if origins or any_origin else None}
    changes: dict[str, Any] = {field: value for field, value in given.items() if value is not None}
    if not changes:
        raise click.UsageError("Nothing to change: --help lists the options.")
    with database() as operator:
        from paraph.tenants.applications import existing_application, update_application
        from paraph.tenants.overview import application_facts

        show(application_facts(update_application(operator, existing_application(id), **changes)), as_json=as_json)


@command.command()
@click.argument("id", type=int)
@click.option("--overlap-hours", type=click.IntRange(0, 24 * 90), default=24, show_default=True, help=_OVERLAP)
@operator_options
def rotate(id: int, overlap_hours: int, *, as_json: bool) -> None:
    """Create a new API key and webhook secret, shown only once. The old ones stay valid for the overlap."""
    with database() as operator:
        from paraph.kernel import clock
        from paraph.tenants.applications import existing_application, rotate_application

        rotated = rotate_application(operator, existing_application(id), timedelta(hours=overlap_hours))
        facts = {"id": id, "name": rotated.application.name}
        secrets = {"api_key": rotated.api_key, "webhook_secret": rotated.webhook_secret}
        show({**facts, **secrets, "overlap_ends_at": clock.iso(rotated.ends_at)}, as_json=as_json)


@command.command()
@click.argument("id", type=int)
@operator_options
def revoke(id: int, *, as_json: bool) -> None:
    """Revoke all keys of an application, effective immediately."""
    with database() as operator:
        from paraph.tenants.applications import existing_application, revoke_application

        show({"id": id, "revoked_keys": revoke_application(operator, existing_application(id))}, as_json=as_json)


@click.group()
def keys() -> None:
    """Individual API keys. A key is shown only once, when it is created."""


@keys.command("list")
@click.option("--application", type=int, help="Only those of this application.")
@operator_options
def list_keys(application: int | None, *, as_json: bool) -> None:
    """Show keys with their application, last use and expiry."""
    with database():
        from paraph.tenants.overview import keys as all_keys

        show_list(all_keys(application), as_json=as_json, none="There is no key.")


@keys.command("revoke")
@click.argument("id", type=int)
@operator_options
def revoke_one(id: int, *, as_json: bool) -> None:
    """Revoke one key, effective immediately."""
    with database() as operator:
        from paraph.tenants.applications import existing_key, revoke_key
        from paraph.tenants.overview import key_facts

        show(key_facts(revoke_key(operator, existing_key(id))), as_json=as_json)
