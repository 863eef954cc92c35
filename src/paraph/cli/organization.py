"""``paraph organization``, ``paraph retention``, ``paraph usage`` and ``paraph branding``."""

from typing import Any

import click

from paraph.cli.options import confirm, operator_options, show, show_list
from paraph.cli.session import database

_CHANGEABLE = "Whether production refuses documents that print differently than shown, or can change what they show."
_COPY_LINKS = "Whether the mail to signers at completion links to their copy."
_SIGNATURE_ONLY = "Stamps show the signature alone, for forms that already print the rest."


@click.group()
def command() -> None:
    """Organizations."""


@command.command()
@click.argument("name")
@click.option("--plan", required=True, help="free, pro or enterprise")
@operator_options
def create(name: str, plan: str, *, as_json: bool) -> None:
    """Create an organization."""
    with database() as operator:
        from paraph.tenants.organizations import create_organization

        made = create_organization(operator, name, plan)
        show({"id": made.pk, "name": made.name, "plan": made.plan}, as_json=as_json)


@command.command("list")
@operator_options
def list_(*, as_json: bool) -> None:
    """Show all organizations, including deleted ones."""
    with database():
        from paraph.tenants.overview import organizations

        show_list(organizations(), as_json=as_json, none="There is no organization.")


@command.command()
@click.argument("id", type=int)
@click.option("--name", help="Its name, as signers see it.")
@click.option("--plan", help="free, pro or enterprise; applies from the next call on.")
@click.option("--refuse-changeable/--accept-changeable", "refuse_changeable_documents", default=None, help=_CHANGEABLE)
@click.option("--copy-links/--no-copy-links", "mails_copy_links", default=None, help=_COPY_LINKS)
@click.option("--contact-email", help='Where signers\' questions go; "" for nowhere.')
@operator_options
def update(id: int, *, as_json: bool, **given: str | bool | None) -> None:
    """Change an organization's name, plan, accepted documents, copies for signers or contact address."""
    changes: dict[str, Any] = {field: value for field, value in given.items() if value is not None}
    if not changes:
        raise click.UsageError("Nothing to change: --help lists the options.")
    with database() as operator:
        from paraph.tenants.organizations import change_settings
        from paraph.tenants.overview import organization_facts

        show(organization_facts(change_settings(id, operator, **changes)), as_json=as_json)


@command.command()
@click.argument("id", type=int)
@operator_options
def suspend(id: int, *, as_json: bool) -> None:
    """Refuse an organization's API keys. Requests under way go on: signers can still sign."""
    with database() as operator:
        from paraph.tenants.lifecycle import suspend_organization
        from paraph.tenants.overview import organization_facts

        show(organization_facts(suspend_organization(operator, id)), as_json=as_json)


@command.command()
@click.argument("id", type=int)
@operator_options
def resume(id: int, *, as_json: bool) -> None:
    """Accept the API keys of a suspended organization again."""
    with database() as operator:
        from paraph.tenants.lifecycle import resume_organization
        from paraph.tenants.overview import organization_facts

        show(organization_facts(resume_organization(operator, id)), as_json=as_json)


@command.command()
@click.argument("id", type=int)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@operator_options
def delete(id: int, *, yes: bool, as_json: bool) -> None:
    """Delete an organization permanently. Its keys and links stop working at once; retention deletes its files."""
    confirm(f"Delete organization {id} for good?", already=yes)
    with database() as operator:
        from paraph.flow.ending import delete_organization
        from paraph.tenants.models import Organization
        from paraph.tenants.overview import organization_facts

        ended = delete_organization(id, operator)
        show({**organization_facts(Organization.objects.get(pk=id)), "ended_requests": ended}, as_json=as_json)


@command.command("confirm-address")
@click.argument("id", type=int)
@click.argument("address")
@click.option("--vouch", "how", flag_value="vouch", help="Confirm it without asking; you vouch for it.")
@click.option("--withdraw", "how", flag_value="withdraw", help="Withdraw its confirmation.")
@click.option("--language", default="en", show_default=True, help="Language of the question.")
@operator_options
def confirm_address(id: int, address: str, how: str | None, language: str, *, as_json: bool) -> None:
    """Ask an address or number whether messages of an organization's sandbox may go to it."""
    with database() as operator:
        from paraph.kernel import clock
        from paraph.operations.people import ask_to_confirm, vouch_for, withdraw_confirmation

        if how == "vouch":
            row = vouch_for(id, address, operator)
        elif how == "withdraw":
            row = withdraw_confirmation(id, address, operator)
        else:
            row = ask_to_confirm(id, address, operator, language)
        confirmed_at = clock.iso(row.confirmed_at) if row.confirmed_at else None
        show({"organization_id": id, "address": row.address, "confirmed_at": confirmed_at}, as_json=as_json)


@click.group()
def retention() -> None:
    """How long the files and the people of requests are kept."""


@retention.command("set")
@click.option("--organization", type=int, required=True, help="ID of the organization.")
@click.option("--environment", required=True, help="sandbox or production")
@click.option("--days", type=int, help="Days after the end of a request until its files are deleted.")
@click.option("--never", is_flag=True, help="Keep files forever, which is the default.")
@click.option("--people-days", type=int, help="Days after the end of a request until its people are forgotten.")
@click.option("--people-never", is_flag=True, help="Keep names and addresses forever, which is the default.")
@operator_options
def set_(organization: int, environment: str, *, as_json: bool, **given: Any) -> None:
    """Set when the files of an organization's requests are deleted and its people forgotten, in one environment."""
    days = {environment: given["days"]} if given["days"] is not None or given["never"] else {}
    people = {environment: given["people_days"]} if given["people_days"] is not None or given["people_never"] else {}
    if not days | people or (given["days"] and given["never"]) or (given["people_days"] and given["people_never"]):
        raise click.UsageError("Give either --days or --never, either --people-days or --people-never, or one of each.")
    with database() as operator:
        from paraph.tenants.lifecycle import change_retention

        change_retention(organization, operator, days, people)
        _show_days(organization, as_json=as_json)


def _show_days(organization: int, *, as_json: bool) -> None:
    from paraph.tenants.lifecycle import retention_days

    facts = {name: retention_days(organization, name) for name in ("days", "people_days")}
    show({"organization_id": organization, **facts}, as_json=as_json)


@retention.command()
@operator_options
def apply(*, as_json: bool) -> None:
    """Delete files and forget people that are due now; workers do this on their own every five minutes."""
    with database():
        from paraph.flow.housekeeping.retention import delete_due_files
        from paraph.flow.personal_data.erase import forget_due_people

        deleted, forgotten = (verb(seconds=float("inf")) for verb in (delete_due_files, forget_due_people))
        show({"requests": deleted, "requests_without_people": forgotten}, as_json=as_json)


@retention.command("show")
@click.argument("organization", type=int)
@operator_options
def show_(organization: int, *, as_json: bool) -> None:
    """Show when the files of an organization's requests are deleted and its people forgotten, by environment; null for
    never."""
    with database():
        from paraph.tenants.organizations import existing_organization

        existing_organization(organization)
        _show_days(organization, as_json=as_json)


@click.command("usage")
@click.option("--month", required=True, help="Month in UTC, such as 2026-11.")
@operator_options
def usage(month: str, *, as_json: bool) -> None:
    """Show each organization's API calls, requests and dashboard sends in a month.

    billed_requests are those that the API created in production.
    """
    with database():
        from paraph.tenants.usage import month_of, usage_of_all

        try:
            first = month_of(month)
        except ValueError as problem:
            raise click.UsageError(f"--month must be a month such as 2026-11, not {month!r}.") from problem
        show_list(usage_of_all(first), as_json=as_json, none="There is no organization.")


@click.group()
def branding() -> None:
    """Branding profiles: the colours of signing pages and mails."""


@branding.command("create")
@click.option("--organization", type=int, required=True, help="ID of the organization.")
@click.option("--name", required=True)
@click.option("--background-color", required=True, help="such as #ffffff")
@click.option("--text-color", required=True)
@click.option("--accent-color", required=True)
@click.option("--signature-only", is_flag=True, help=_SIGNATURE_ONLY)
@operator_options
def create_branding(organization: int, name: str, *, signature_only: bool, as_json: bool, **colors: str) -> None:
    """Create a branding profile."""
    with database() as operator:
        from paraph.tenants.branding import create_profile

        made = create_profile(organization, operator, name, signature_only=signature_only, **colors)
        names = ("name", "background_color", "text_color", "accent_color", "signature_only")
        facts = {name: getattr(made, name) for name in names}
        show({"id": made.pk, "organization_id": organization, **facts}, as_json=as_json)


@branding.command("delete")
@click.argument("profile_id", type=int)
@operator_options
def delete_branding(profile_id: int, *, as_json: bool) -> None:
    """Delete a branding profile. Requests that use it keep its colours."""
    with database() as operator:
        from paraph.flow.branding import delete_profile
        from paraph.tenants.branding import existing_profile

        profile = existing_profile(profile_id)
        delete_profile(operator, profile)
        facts = {"id": profile.pk, "organization_id": profile.organization_id, "name": profile.name, "deleted": True}
        show(facts, as_json=as_json)
