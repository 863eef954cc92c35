"""Links of invitations, and how often they are sent (specification 8)."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from django.conf import settings
from django.db import connection
from django.urls import reverse
from django.utils.translation import gettext as _

from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.tenants.models import Invitation, InvitationResend

VALID = timedelta(days=7)
MOST_IN_A_DAY = 20
_MOST_TO_A_MEMBER, _MEMBER_WINDOW = 3, timedelta(minutes=10)
_MOST_FROM_A_NETWORK, _NETWORK_WINDOW = 30, timedelta(hours=1)
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtext('invitation resends'))"


class State(StrEnum):
    OPEN = "open"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    ACCEPTED = "accepted"


@dataclass(frozen=True)
class Link:
    """A new link: what of it is kept, and the address that only the mail has."""

    secret_sha256: bytes
    url: str


def new_link() -> Link:
    secret = tokens.base64url(tokens.random_bytes(32))
    return Link(tokens.sha256(secret.encode()), f"{settings.PARAPH.public_url}{reverse('invitation', args=[secret])}")


def invitation_of(secret: str) -> Invitation | None:
    """Returns the invitation whose newest link has the secret; None also where its organization is deleted."""
    invitations = Invitation.objects.select_related("organization", "invited_by__user")
    return invitations.filter(secret_sha256=tokens.sha256(secret.encode()), organization__deleted_at=None).first()


def state(invitation: Invitation) -> State:
    if invitation.accepted_at:
        return State.ACCEPTED
    if invitation.withdrawn_at:
        return State.WITHDRAWN
    return State.OPEN if clock.now() < invitation.expires_at else State.EXPIRED


def require_room_to_invite(organization_id: int) -> None:
    """Raises ``DomainError("rate_limited", …)`` after 20 invitations within 24 hours. Call it with the organization's
    row locked."""
    since = clock.now() - timedelta(days=1)
    if Invitation.objects.filter(organization_id=organization_id, created_at__gt=since).count() >= MOST_IN_A_DAY:
        sentence = _("An organization sends at most %(count)d invitations a day. Try again tomorrow.")
        raise DomainError("rate_limited", sentence % {"count": MOST_IN_A_DAY})


def count_resend(invitation: Invitation, network: str) -> None:
    """Counts an invitation that is sent again: 3 for a member in 10 minutes, whether the invitation was withdrawn and
    made anew or not, and 30 from a network in an hour. ``network``: an IPv4 address, or the /64 of an IPv6 address.

    Raises ``DomainError("rate_limited", …)``. One transaction at a time passes here, until its end.
    """
    with connection.cursor() as cursor:
        cursor.execute(_ONE_AT_A_TIME)
    now = clock.now()
    InvitationResend.objects.filter(sent_at__lte=now - _NETWORK_WINDOW).delete()
    to_member = InvitationResend.objects.filter(
        organization_id=invitation.organization_id, email=invitation.email, sent_at__gt=now - _MEMBER_WINDOW
    )
    if to_member.count() >= _MOST_TO_A_MEMBER:
        sentence = _("An invitation is sent again at most %(count)d times in 10 minutes. Wait a few minutes.")
        raise DomainError("rate_limited", sentence % {"count": _MOST_TO_A_MEMBER})
    if InvitationResend.objects.filter(network=network).count() >= _MOST_FROM_A_NETWORK:
        sentence = _("At most %(count)d invitations an hour are sent again from one network. Try again in an hour.")
        raise DomainError("rate_limited", sentence % {"count": _MOST_FROM_A_NETWORK})
    InvitationResend.objects.create(
        organization_id=invitation.organization_id, email=invitation.email, network=network, sent_at=now
    )
