"""What a member would do first with a request as it stands."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from paraph.flow.sending.invite import BETWEEN_REMINDERS, next_allowed
from paraph.kernel import clock
from paraph.messaging.gateways import EMAIL, has_gateway
from paraph.signature_requests.models import RequestStatus, SignatureRequest, Signer
from paraph.tenants.models import Member
from paraph.tenants.rights import Right, may


class FirstAction(NamedTuple):
    """``kind``: ``download``; of a ``signer``: ``sign``, who is the member, ``link`` or ``remind``."""

    kind: str
    signer: Signer | None = None


def first_action(member: Member, found: SignatureRequest, rows: Sequence[dict[str, Any]]) -> FirstAction | None:
    """Return None where there is nothing but to wait. ``rows``: the signers as the page shows them."""
    if found.finalized and not found.files_deleted_at:
        return FirstAction("download")
    if found.status != RequestStatus.PENDING or not may(member.role, Right.SEND):
        return None
    turn = [row for row in rows if row["is_next"]]
    for row in turn:
        if row["signer"].email.lower() == member.user.email.lower():
            return FirstAction("sign", row["signer"])
    for row in turn:
        if row["kept"] or not found.send_email or not has_gateway(EMAIL):
            return FirstAction("link", row["signer"])
        if row["can_be_reminded"] and _has_waited(row["signer"]):
            return FirstAction("remind", row["signer"])
    return None


def _has_waited(signer: Signer) -> bool:
    """Return whether the signer has heard nothing for as long as lies between two reminders."""
    now = clock.now()
    is_old = signer.notified_at is not None and signer.notified_at + BETWEEN_REMINDERS <= now
    return is_old and next_allowed(signer.reminders.all()) <= now
