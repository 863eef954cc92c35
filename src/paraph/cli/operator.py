"""``paraph operator``: add, list, remove; ``paraph activity``."""

import click

from paraph.cli.options import operator_options, show, show_list
from paraph.cli.session import database


@click.group()
def command() -> None:
    """Accounts that see /operator, the page that says whether the service is well."""


@command.command()
@click.argument("address")
@operator_options
def add(address: str, *, as_json: bool) -> None:
    """Let the account of this e-mail address see /operator, once it has a second factor. An account without a password
    gets a link to set one, valid for one hour."""
    with database() as operator:
        from paraph.operations.operators import add_operator
        from paraph.tenants.accounts import password_link

        user = add_operator(operator, address)
        link = {} if user.has_usable_password() else {"link": password_link(user)}
        show({"email": user.email, **link}, as_json=as_json)


@command.command("list")
@operator_options
def list_(*, as_json: bool) -> None:
    """Show who sees /operator, and whether they have the second factor that it takes."""
    with database():
        from paraph.operations.operators import operators

        show_list(operators(), as_json=as_json, none="Nobody sees /operator.")


@command.command()
@click.argument("address")
@operator_options
def remove(address: str, *, as_json: bool) -> None:
    """Take /operator away from an account, effective immediately. The account stays."""
    with database() as operator:
        from paraph.operations.operators import remove_operator

        show({"email": remove_operator(operator, address), "removed": True}, as_json=as_json)


@click.command()
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="How many at most.")
@operator_options
def activity(limit: int, *, as_json: bool) -> None:
    """Show what operators did and looked at, newest first: by commands and at /operator, by name."""
    with database():
        from paraph.operations.operators import acts

        show_list(acts(limit), as_json=as_json, none="No operator did anything.")
