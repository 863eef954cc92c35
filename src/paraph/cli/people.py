"""``paraph member``, ``paraph person``, ``paraph erase``, ``paraph operator`` and ``paraph activity``."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from paraph.cli.options import confirm, operator_options, show, show_lines, show_list
from paraph.cli.session import database


@click.group()
def member() -> None:
    """Members of organizations, and their accounts."""


@member.command()
@click.option("--organization", required=True, type=int, help="ID of the organization.")
@click.option("--email", required=True, help="E-mail address that the member logs in with.")
@click.option("--role", required=True, type=click.Choice(["owner", "admin", "member", "observer"]))
@click.option("--name", default="", help="Name of the person.")
@click.option("--password-stdin", is_flag=True, help="Read the password of the new account from standard input.")
@operator_options
def create(organization: int, email: str, role: str, name: str, *, password_stdin: bool, as_json: bool) -> None:
    """Create a member. A new account without a password gets a link to set one, valid for one hour."""
    password = sys.stdin.readline().rstrip("\r\n") if password_stdin else ""
    if password_stdin and not password:
        raise click.UsageError("No password on standard input.")
    with database() as operator:
        from paraph.tenants.accounts import password_link
        from paraph.tenants.members import create_member

        made = create_member(organization, operator, email, role, name=name, password=password)
        facts: dict[str, Any] = {"id": made.pk, "email": made.user.email, "role": made.role}
        if not made.user.has_usable_password():
            facts["link"] = password_link(made.user)
        show(facts, as_json=as_json)


@member.command("list")
@click.option("--organization", required=True, type=int, help="ID of the organization.")
@operator_options
def list_members(organization: int, *, as_json: bool) -> None:
    """List the members of an organization."""
    with database():
        from django.db.models import F

        from paraph.kernel import clock
        from paraph.tenants.models import Member

        members = Member.objects.filter(organization_id=organization).order_by("pk")
        told = members.values("id", "role", "joined_at", email=F("user__email"), name=F("user__name"))
        rows = [{**row, "joined_at": clock.iso(row["joined_at"])} for row in told]
        lines = (f"{row['id']}  {row['role']:<8}  {row['email']}  {row['name']}" for row in rows)
        show_lines(rows, lines, as_json=as_json)


@member.command()
@click.option("--organization", required=True, type=int, help="ID of the organization.")
@click.option("--email", required=True, help="Address of the member.")
@operator_options
def remove(organization: int, email: str, *, as_json: bool) -> None:
    """Remove a member. The account stays; its sessions end when it leaves its last organization."""
    with database() as operator:
        from paraph.tenants.members import remove_member
        from paraph.tenants.models import Member
        from paraph.tenants.scope import existing

        members = Member.objects.filter(organization_id=organization, user__email=email.strip().lower())
        found = existing(members.select_related("user"), f"Organization {organization} has no member {email}.")
        remove_member(organization, operator, found.pk)
        show({"id": found.pk, "email": found.user.email, "removed": True}, as_json=as_json)


@click.group()
def person() -> None:
    """What is stored about a person; `paraph erase` erases it."""


@person.command("show")
@click.argument("address")
@click.option(
    "--pdf", type=click.Path(path_type=Path, dir_okay=False), help="PDF file to write, to hand to the person."
)
@operator_options
def show_person(address: str, *, pdf: Path | None, as_json: bool) -> None:
    """Show everything stored about the person with this e-mail address or phone number, in all organizations.

    Each line says which command erases it, or why it stays.
    """
    with database():
        from paraph.flow.personal_data.erase import show_person as find
        from paraph.kernel import clock
        from paraph.operations.people import write_person_file

        at, kept = clock.now(), find(address)
        if pdf:
            write_person_file(pdf, address.strip(), at, kept)
    things = [{"place": each.place, "erased_by": each.erased_by, "stays": each.stays, **each.facts} for each in kept]
    if as_json:
        facts = {"address": address.strip(), "at": clock.iso(at), "kept": things}
        click.echo(json.dumps(facts, ensure_ascii=False, indent=1))
        return
    for each in kept:
        click.echo(f"{each.place}: {json.dumps(each.facts, ensure_ascii=False)}")
        click.echo(f"    {each.erased_by or each.stays}")
    if not kept:
        click.echo("Nothing is stored under this address or phone number.")


@click.group()
def erase() -> None:
    """Erase personal data permanently."""


@erase.command()
@click.argument("id", type=int)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@operator_options
def signer(id: int, *, yes: bool, as_json: bool) -> None:
    """Replace a signer's name, addresses and devices with pseudonyms, in the database and the journal. Files stay until
    retention deletes them."""
    confirm(f"Erase the data of signer {id} for good?", already=yes)
    with database() as operator:
        from paraph.flow.personal_data.erase import erase_signer

        erased = erase_signer(operator, id)
        show({"id": id, "request_id": erased.request_id, "journal_entries": erased.journal_entries}, as_json=as_json)


@erase.command()
@click.argument("address")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@operator_options
def address(address: str, *, yes: bool, as_json: bool) -> None:
    """Erase what is stored about an address or phone number that signs nothing: copies, rows of bulk sends and drafts
    that were never sent, captured messages, confirmed addresses. Lists the signers that have it, for `paraph erase
    signer`."""
    confirm(f"Erase what is kept of {address} outside of requests for good?", already=yes)
    with database() as operator:
        from paraph.flow.personal_data.erase import erase_address

        erased = erase_address(operator, address)
        show({"organization_ids": erased.organization_ids, "signer_ids": erased.signer_ids}, as_json=as_json)


@click.group("operator")
def operators() -> None:
    """Accounts that see /operator, the page that says whether the service is well."""


@operators.command()
@click.argument("address")
@operator_options
def add(address: str, *, as_json: bool) -> None:
    """Let the account of this e-mail address see /operator, once it has a second factor. An account without a password
    gets a link to set one, valid for one hour."""
    with database() as operator:
        from paraph.operations.people import add_operator
        from paraph.tenants.accounts import password_link

        user = add_operator(operator, address)
        link = {} if user.has_usable_password() else {"link": password_link(user)}
        show({"email": user.email, **link}, as_json=as_json)


@operators.command("list")
@operator_options
def list_operators(*, as_json: bool) -> None:
    """Show who sees /operator, and whether they have the second factor that it takes."""
    with database():
        from paraph.operations.people import operators as all_operators

        show_list(all_operators(), as_json=as_json, none="Nobody sees /operator.")


@operators.command("remove")
@click.argument("address")
@operator_options
def remove_one(address: str, *, as_json: bool) -> None:
    """Take /operator away from an account, effective immediately. The account stays."""
    with database() as operator:
        from paraph.operations.people import remove_operator

        show({"email": remove_operator(operator, address), "removed": True}, as_json=as_json)


@click.command()
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="How many at most.")
@operator_options
def activity(limit: int, *, as_json: bool) -> None:
    """Show what operators did and looked at, newest first: by commands and at /operator, by name."""
    with database():
        from paraph.operations.people import acts

        show_list(acts(limit), as_json=as_json, none="No operator did anything.")
