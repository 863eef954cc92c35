"""May this signer sign at this moment? The one answer for the page, the codes, the signature and the invitation."""

from datetime import datetime
from enum import Enum

from paraph.database.prepared_statements import prepared_cursor
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import Mode, RequestStatus, SignatureRequest, Signer, SignerStatus


class Standing(Enum):
    """The value is the error code of the signer endpoints; ``OPEN`` is none."""

    OPEN = "open"
    SIGNED = "already_signed"
    EXPIRED = "expired"
    NOT_YOUR_TURN = "not_your_turn"


_NEXT = """
    SELECT id FROM signature_requests_signer WHERE request_id = %s AND status <> %s ORDER BY "order" LIMIT 1
"""
_SENTENCES = {
    Standing.SIGNED: "You have already signed; nothing more is needed from you.",
    Standing.EXPIRED: "The time to sign has passed; ask the sender for a new request.",
    Standing.NOT_YOUR_TURN: "Somebody who signs before you has not signed yet.",
}


def standing(signer: Signer, moment: datetime | None = None) -> Standing:
    """Where the signer stands at the moment, by default now. Reads the rows as given: lock and reload them where it
    must hold until a commit."""
    if signer.status == SignerStatus.SIGNED:
        return Standing.SIGNED
    if is_over(signer.request, moment or clock.now()):
        return Standing.EXPIRED
    return Standing.OPEN if _is_their_turn(signer) else Standing.NOT_YOUR_TURN


def require_open(signer: Signer, moment: datetime | None = None) -> None:
    """Raises ``DomainError`` ``already_signed``, ``expired`` or ``not_your_turn`` unless the signer may sign at the
    moment, by default now."""
    found = standing(signer, moment)
    if found is not Standing.OPEN:
        raise DomainError(found.value, _SENTENCES[found])


def is_over(request: SignatureRequest, moment: datetime) -> bool:
    """From the very second of ``expires_at`` a request takes no signature, whether or not the job that
    marks it ``expired`` has run."""
    return request.status != RequestStatus.PENDING or moment >= request.expires_at


def next_signer(request: SignatureRequest) -> int | None:
    """The id of the first, in signing order, who has not signed."""
    with prepared_cursor() as cursor:
        cursor.execute(_NEXT, [request.pk, SignerStatus.SIGNED.value])
        found = cursor.fetchone()
    return found[0] if found else None


def _is_their_turn(signer: Signer) -> bool:
    if signer.request.mode == Mode.PARALLEL:
        return True
    earlier = Signer.objects.filter(request_id=signer.request_id, order__lt=signer.order)
    return not earlier.exclude(status=SignerStatus.SIGNED).exists()
