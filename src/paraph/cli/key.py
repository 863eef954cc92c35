"""``paraph key list`` and ``paraph key revoke``."""

import click

from paraph.cli.options import operator_options, show, show_list
from paraph.cli.session import database


@click.group()
def command() -> None:
    """API keys, one by one. Nobody can show a key again."""


@command.command("list")
@click.option("--application", type=int, help="Only those of this application.")
@operator_options
def list_(application: int | None, *, as_json: bool) -> None:
    """Show keys: whose they are, when they were last used, and until when they are valid."""
    with database():
        from paraph.tenants.overview import keys

        show_list(keys(application), as_json=as_json, none="There is no key.")


@command.command()
@click.argument("id", type=int)
@operator_options
def revoke(id: int, *, as_json: bool) -> None:
    """Revoke one key, effective immediately."""
    with database():
        from paraph.tenants.admin_log import OPERATOR
        from paraph.tenants.applications import existing_key, revoke_key
        from paraph.tenants.overview import key_facts

        key = revoke_key(OPERATOR, existing_key(id))
        show(key_facts(key), as_json=as_json)
