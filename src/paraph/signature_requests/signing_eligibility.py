"""Deciding whether a signer may sign at a moment, for the page, the codes, the signature and the invitation."""

from datetime import datetime
from enum import Enum

from django.db.models import QuerySet

from paraph import words
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import Mode, RequestStatus, SignatureRequest, Signer, SignerStatus


class SigningEligibility(Enum):
    """Whether and why not. Values are error codes of the signer endpoints, except that of ``OPEN``."""

    OPEN = "open"
    SIGNED = "already_signed"
    EXPIRED = "expired"
    NOT_YOUR_TURN = "not_your_turn"

    def refusal(self) -> DomainError:
        """Return the refusal of somebody who may not sign, in the words of the signing page."""
        return DomainError(self.value, str(words.of("page", "en")[f"{self.value}_title"]))


def signing_eligibility(signer: Signer, moment: datetime | None = None) -> SigningEligibility:
    """Return whether the signer may sign at the moment, by default now. Judges the rows as they were loaded: callers
    lock and reload them where the result must hold until a commit."""
    if signer.status == SignerStatus.SIGNED:
        return SigningEligibility.SIGNED
    if is_over(signer.request, moment or clock.now()):
        return SigningEligibility.EXPIRED
    return SigningEligibility.OPEN if _is_their_turn(signer) else SigningEligibility.NOT_YOUR_TURN


def require_open(signer: Signer, moment: datetime | None = None) -> None:
    """Raise ``DomainError`` ``already_signed``, ``expired`` or ``not_your_turn`` unless the signer may sign at the
    moment, by default now."""
    eligibility = signing_eligibility(signer, moment)
    if eligibility is not SigningEligibility.OPEN:
        raise eligibility.refusal()


def is_over(request: SignatureRequest, moment: datetime) -> bool:
    """Return whether the request takes no more signatures: from the very second of ``expires_at``, whether or not a
    worker has marked it ``expired``."""
    return request.status != RequestStatus.PENDING or moment >= request.expires_at


def next_signer(request: SignatureRequest) -> int | None:
    """Return the id of the first signer, in signing order, who has not signed; None if all have."""
    return _unsigned(request.pk).order_by("order").values_list("pk", flat=True).first()


def _is_their_turn(signer: Signer) -> bool:
    if signer.request.mode == Mode.PARALLEL or signer.order == 1:
        return True
    return not _unsigned(signer.request_id).filter(order__lt=signer.order).exists()


def _unsigned(request_id: int) -> QuerySet[Signer]:
    return Signer.objects.filter(request=request_id).exclude(status=SignerStatus.SIGNED)
