"""Who may read the documents behind a signing link."""

from paraph.signature_requests.models import Signer
from paraph.signature_requests.signing_eligibility import Standing, require_open, standing


def require_reader(signer: Signer) -> None:
    """Those who may sign now, and those whose turn is still to come: they may read before. Raises ``DomainError`` as
    :func:`require_open` does."""
    if standing(signer) is not Standing.NOT_YOUR_TURN:
        require_open(signer)
