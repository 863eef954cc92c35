"""``paraph branding``: create, delete."""

import click

from paraph.cli.options import operator_options, show
from paraph.cli.session import database


@click.group()
def command() -> None:
    """Branding profiles, the colours of the signer journey."""


@command.command()
@click.option("--organization", type=int, required=True, help="id of the organization")
@click.option("--name", required=True)
@click.option("--background-color", required=True, help="such as #ffffff")
@click.option("--text-color", required=True)
@click.option("--accent-color", required=True)
@click.option("--signature-only", is_flag=True, help="stamps show the signature alone, for forms that print the rest")
@operator_options
def create(
    organization: int,
    name: str,
    background_color: str,
    text_color: str,
    accent_color: str,
    *,
    signature_only: bool,
    as_json: bool,
) -> None:
    """Create a branding profile."""
    with database():
        from paraph.tenants.admin_log.actor import OPERATOR
        from paraph.tenants.branding import create_profile

        made = create_profile(
            organization,
            OPERATOR,
            name,
            background_color=background_color,
            text_color=text_color,
            accent_color=accent_color,
            signature_only=signature_only,
        )
        facts = {
            "id": made.pk,
            "organization_id": organization,
            "name": made.name,
            "background_color": made.background_color,
            "text_color": made.text_color,
            "accent_color": made.accent_color,
            "signature_only": made.signature_only,
        }
        show(facts, as_json=as_json)


@command.command()
@click.argument("profile_id", type=int)
@operator_options
def delete(profile_id: int, *, as_json: bool) -> None:
    """Delete a branding profile. Requests that have it keep its colours."""
    with database():
        from paraph.flow.ending.delete_profile import delete_profile
        from paraph.tenants.admin_log.actor import OPERATOR
        from paraph.tenants.branding import existing_profile

        profile = existing_profile(profile_id)
        delete_profile(OPERATOR, profile)
        facts = {"id": profile.pk, "organization_id": profile.organization_id, "name": profile.name, "deleted": True}
        show(facts, as_json=as_json)
