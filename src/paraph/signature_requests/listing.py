"""Which rows list the documents of a signer: the places to sign, or of an approver, what is to be approved."""

from paraph.signature_requests.models import Signer

_LISTINGS = ("signature_requests_placement", "signature_requests_approval")


def by_listing(statement: str) -> tuple[str, str]:
    """Return the SQL for signers and that for approvers, with the table in the place of ``{listing}``."""
    signers, approvers = (statement.replace("{listing}", listing) for listing in _LISTINGS)
    return signers, approvers


def of_role(statements: tuple[str, str], signer: Signer) -> str:
    """Return that of the two statements which is for this signer."""
    return statements[signer.is_approver]
