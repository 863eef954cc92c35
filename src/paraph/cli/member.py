"""``paraph member create``, ``paraph member list`` and ``paraph member remove``."""

import json
import sys
from typing import Any

import click

from paraph.cli.options import operator_options, show
from paraph.cli.session import database


@click.group()
def command() -> None:
    """Members of organizations, and their accounts."""


@command.command()
@click.option("--organization", required=True, type=int, help="Id of the organization.")
@click.option("--email", required=True, help="Address that the member logs in with.")
@click.option("--role", required=True, type=click.Choice(["owner", "admin", "member", "observer"]))
@click.option("--name", default="", help="Name of the person.")
@click.option("--password-stdin", is_flag=True, help="Read the password of the new account from the standard input.")
@operator_options
def create(organization: int, email: str, role: str, name: str, *, password_stdin: bool, as_json: bool) -> None:
    """Create a member. Without a password, a new account gets a link that sets one within the hour."""
    password = sys.stdin.readline().rstrip("\r\n") if password_stdin else ""
    if password_stdin and not password:
        raise click.UsageError("There is no password on the standard input.")
    with database():
        from paraph.tenants.accounts import password_link
        from paraph.tenants.admin_log import OPERATOR
        from paraph.tenants.members import create_member

        member = create_member(organization, OPERATOR, email, role, name=name, password=password)
        facts: dict[str, Any] = {"id": member.pk, "email": member.user.email, "role": member.role}
        if not member.user.has_usable_password():
            facts["link"] = password_link(member.user)
        show(facts, as_json=as_json)


@command.command("list")
@click.option("--organization", required=True, type=int, help="Id of the organization.")
@operator_options
def list_members(organization: int, *, as_json: bool) -> None:
    """List the members of an organization."""
    with database():
        from paraph.kernel import clock
        from paraph.tenants.models import Member

        members = Member.objects.filter(organization_id=organization).select_related("user").order_by("pk")
        rows = [
            {
                "id": member.pk,
                "email": member.user.email,
                "name": member.user.name,
                "role": member.role,
                "joined_at": clock.iso(member.joined_at),
            }
            for member in members
        ]
        if as_json:
            click.echo(json.dumps(rows, ensure_ascii=False))
            return
        for row in rows:
            click.echo(f"{row['id']}  {row['role']:<8}  {row['email']}  {row['name']}")


@command.command()
@click.option("--organization", required=True, type=int, help="Id of the organization.")
@click.option("--email", required=True, help="Address of the member.")
@operator_options
def remove(organization: int, email: str, *, as_json: bool) -> None:
    """Remove a member. The account stays; its sessions end with its last organization."""
    with database():
        from paraph.kernel.errors import DomainError
        from paraph.tenants.admin_log import OPERATOR
        from paraph.tenants.members import remove_member
        from paraph.tenants.models import Member

        members = Member.objects.filter(organization_id=organization, user__email=email.strip().lower())
        member = members.select_related("user").first()
        if member is None:
            raise DomainError("not_found", f"Organization {organization} has no member {email}.")
        remove_member(organization, OPERATOR, member.pk)
        show({"id": member.pk, "email": member.user.email, "removed": True}, as_json=as_json)
