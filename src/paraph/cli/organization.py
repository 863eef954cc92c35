"""``paraph organization create``, ``paraph organization update`` and ``paraph organization confirm-address``."""

import click

from paraph.cli.options import data_dir_option, json_option, show
from paraph.cli.session import database


@click.group()
def command() -> None:
    """Organizations."""


@command.command()
@click.argument("name")
@click.option("--plan", required=True, help="free, pro or enterprise")
@data_dir_option
@json_option
def create(name: str, plan: str, *, as_json: bool) -> None:
    """Make an organization."""
    with database():
        from paraph.organizations.registration import create_organization

        made = create_organization(name, plan)
        show({"id": made.pk, "name": made.name, "plan": made.plan}, as_json=as_json)


@command.command()
@click.argument("id", type=int)
@click.option(
    "--refuse-changeable/--accept-changeable",
    "refuse",
    default=None,
    help="Whether production takes documents that print differently than they are shown, or can change what they show.",
)
@click.option(
    "--copy-links/--no-copy-links",
    default=None,
    help="Whether the summary that signers get at completion has a link to their copy.",
)
@click.option("--contact-email", "contact", help='Where signers\' questions go; "" for nowhere.')
@data_dir_option
@json_option
def update(id: int, *, refuse: bool | None, copy_links: bool | None, contact: str | None, as_json: bool) -> None:
    """Change what an organization's documents may be, what its signers get, and whom they ask."""
    if refuse is None and copy_links is None and contact is None:
        raise click.UsageError("Say what to change: --help lists it.")
    with database():
        from paraph.organizations.registration import update_organization

        changed = update_organization(
            id, refuse_changeable_documents=refuse, mails_copy_links=copy_links, contact_email=contact
        )
        facts = {
            "id": changed.pk,
            "name": changed.name,
            "refuse_changeable_documents": changed.refuse_changeable_documents,
            "mails_copy_links": changed.mails_copy_links,
            "contact_email": changed.contact_email,
        }
        show(facts, as_json=as_json)


@command.command("confirm-address")
@click.argument("id", type=int)
@click.argument("address")
@click.option("--vouch", "how", flag_value="vouch", help="Confirm it without asking: you answer for it.")
@click.option("--withdraw", "how", flag_value="withdraw", help="Take its confirmation back.")
@click.option("--language", default="en", show_default=True, help="Language of the question.")
@data_dir_option
@json_option
def confirm_address(id: int, address: str, how: str | None, language: str, *, as_json: bool) -> None:
    """Ask an address or number whether messages of an organization's sandbox may go to it."""
    with database():
        from paraph.flow.confirm_address import ask_to_confirm, vouch_for, withdraw_confirmation
        from paraph.kernel import clock

        if how == "vouch":
            row = vouch_for(id, address)
        elif how == "withdraw":
            row = withdraw_confirmation(id, address)
        else:
            row = ask_to_confirm(id, address, language)
        confirmed_at = clock.iso(row.confirmed_at) if row.confirmed_at else None
        show({"organization_id": id, "address": row.address, "confirmed_at": confirmed_at}, as_json=as_json)
