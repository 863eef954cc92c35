"""``paraph application create``, ``paraph application update`` and ``paraph application revoke``."""

import click

from paraph.cli.options import data_dir_option, json_option, show
from paraph.cli.session import database

_FRAME_ORIGIN = "site that may show signing pages in a frame, such as https://example.com; repeatable"


@click.group()
def command() -> None:
    """Applications and their API keys."""


@command.command()
@click.option("--organization", type=int, required=True, help="id of the organization")
@click.option("--environment", required=True, help="sandbox or production")
@click.option("--name", required=True)
@click.option("--webhook-url", default="", help="http or https address that webhooks go to")
@click.option("--frame-origin", "origins", multiple=True, help=_FRAME_ORIGIN)
@data_dir_option
@json_option
def create(
    organization: int, environment: str, name: str, webhook_url: str, origins: tuple[str, ...], *, as_json: bool
) -> None:
    """Make an application; its API key and webhook secret are shown only now."""
    with database():
        from paraph.organizations.registration import create_application

        made = create_application(organization, environment, name, webhook_url, origins)
        facts = {
            "id": made.application.pk,
            "organization_id": organization,
            "environment": environment,
            "name": made.application.name,
            "webhook_url": webhook_url,
            "frame_origins": made.application.frame_origins.split(),
            "api_key": made.api_key,
            "webhook_secret": made.webhook_secret,
        }
        show(facts, as_json=as_json)


@command.command()
@click.argument("id", type=int)
@click.option("--frame-origin", "origins", multiple=True, help=_FRAME_ORIGIN)
@click.option("--any-frame-origin", "any_origin", is_flag=True, help="let any site show signing pages in a frame")
@data_dir_option
@json_option
def update(id: int, origins: tuple[str, ...], *, any_origin: bool, as_json: bool) -> None:
    """Replace the sites that may show an application's signing pages in a frame."""
    if bool(origins) == any_origin:
        raise click.UsageError("Give either --frame-origin, once or more often, or --any-frame-origin.")
    with database():
        from paraph.organizations.registration import update_application

        changed = update_application(id, origins)
        show({"id": id, "name": changed.name, "frame_origins": changed.frame_origins.split()}, as_json=as_json)


@command.command()
@click.argument("id", type=int)
@data_dir_option
@json_option
def revoke(id: int, *, as_json: bool) -> None:
    """Reject an application's keys from now on."""
    with database():
        from paraph.organizations.registration import revoke_application

        show({"id": id, "revoked_keys": revoke_application(id)}, as_json=as_json)
