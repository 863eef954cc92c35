"""Who may read the documents behind a signing link."""

from paraph.signature_requests.models import Signer
from paraph.signature_requests.signing_eligibility import SigningEligibility, require_open, signing_eligibility


def require_reader(signer: Signer) -> None:
    """Those who may sign now, and those whose turn is still to come: they may read before. Raises ``DomainError`` as
    :func:`require_open` does."""
    if signing_eligibility(signer) is not SigningEligibility.NOT_YOUR_TURN:
        require_open(signer)
