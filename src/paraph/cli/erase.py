"""``paraph erase signer``."""

import click

from paraph.cli.options import confirm, operator_options, show
from paraph.cli.session import database


@click.group()
def command() -> None:
    """Erasing personal data, for good."""


@command.command()
@click.argument("id", type=int)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@operator_options
def signer(id: int, *, yes: bool, as_json: bool) -> None:
    """Replace a signer's name, addresses and devices by pseudonyms, in rows and journal. Files stay until they are
    deleted by retention."""
    confirm(f"Erase the data of signer {id} for good?", already=yes)
    with database():
        from paraph.flow.personal_data.erase import erase_signer
        from paraph.tenants.admin_log import OPERATOR

        erased = erase_signer(OPERATOR, id)
        show({"id": id, "request_id": erased.request_id, "journal_entries": erased.journal_entries}, as_json=as_json)


@command.command()
@click.argument("address")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@operator_options
def address(address: str, *, yes: bool, as_json: bool) -> None:
    """Erase what is kept of an address or number that signs nothing: as one who gets copies, rows of bulk sends and
    drafts that were never sent, captured messages, confirmed addresses. Names the signers that have it, for `paraph
    erase signer`."""
    confirm(f"Erase what is kept of {address} outside of requests for good?", already=yes)
    with database():
        from paraph.flow.personal_data.erase import erase_address
        from paraph.tenants.admin_log import OPERATOR

        erased = erase_address(OPERATOR, address)
        told = {"organization_ids": erased.organization_ids, "signer_ids": erased.signer_ids}
        show(told, as_json=as_json)
