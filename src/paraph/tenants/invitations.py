"""Making invitations, sending them again by a new link, withdrawing and accepting them, and how often they are sent
(rule 8)."""

from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from paraph.counts.counting import Ceiling, count
from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.kernel.rates import HOUR
from paraph.messaging.gateways import destination_hash
from paraph.tenants.accounts import checked_address
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.models import Invitation, Member, Role, User
from paraph.tenants.organizations import locked_organization, require_choice
from paraph.tenants.rights import acting_member, require_grantable
from paraph.tenants.scope import existing

VALID = timedelta(days=7)
MOST_IN_A_DAY = 20


class State(StrEnum):
    OPEN = "open"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    ACCEPTED = "accepted"


class Invited(NamedTuple):
    """An invitation and the address of its new link: to be mailed in the transaction that made it."""

    invitation: Invitation
    url: str


def invitation_of(secret: str) -> Invitation | None:
    """Return the invitation whose newest link has the secret; None also where its organization is deleted."""
    invitations = Invitation.objects.select_related("organization", "invited_by__user")
    return invitations.filter(secret_sha256=tokens.sha256(secret.encode()), organization__deleted_at=None).first()


def state(invitation: Invitation) -> State:
    if invitation.accepted_at:
        return State.ACCEPTED
    if invitation.withdrawn_at:
        return State.WITHDRAWN
    return State.OPEN if clock.now() < invitation.expires_at else State.EXPIRED


def count_resend(invitation: Invitation, network: str) -> None:
    """Count an invitation that is sent again: 3 for a member in 10 minutes, whether the invitation was withdrawn and
    made anew or not, and 30 from a network in an hour. ``network``: an IPv4 address, or the /64 of an IPv6 address.

    Raise ``DomainError("rate_limited", …)``, with which the caller's transaction ends: what is refused does not count.
    """
    email = destination_hash(invitation.email)
    to_member, from_network = count(
        [
            Ceiling(f"resends:{invitation.organization_id}:{email}", 600, 3),
            Ceiling(f"resends-from:{destination_hash(network)}", HOUR, 30),
        ]
    )
    if to_member.is_beyond:
        sentence = _("An invitation can be sent again at most %(count)d times in 10 minutes. Wait a few minutes.")
        raise DomainError("rate_limited", sentence % {"count": to_member.ceiling.limit})
    if from_network.is_beyond:
        sentence = _("At most %(count)d invitations per hour can be sent again from one network. Try again in an hour.")
        raise DomainError("rate_limited", sentence % {"count": from_network.ceiling.limit})


@transaction.atomic
def invite(organization_id: int, actor: Actor, email: str, role: str) -> Invited:
    """Invite the address, by a link that is valid for 7 days.

    Raise ``DomainError``: ``not_found``, ``validation_error``, ``forbidden``, ``conflict`` for who is a member or
    invited already, ``rate_limited`` after 20 invitations within 24 hours.
    """
    organization = locked_organization(organization_id)
    require_choice("role", role, Role.values)
    require_grantable(organization_id, actor, role)
    email = checked_address(email)
    if Member.objects.filter(organization=organization, user__email=email).exists():
        raise DomainError("conflict", _("%(email)s is already a member.") % {"email": email})
    if _open(organization_id).filter(email=email).exists():
        sentence = _("%(email)s has already been invited: send that invitation again, or withdraw it.")
        raise DomainError("conflict", sentence % {"email": email})
    since = clock.now() - timedelta(days=1)
    if Invitation.objects.filter(organization_id=organization_id, created_at__gt=since).count() >= MOST_IN_A_DAY:
        sentence = _("An organization can send at most %(count)d invitations per day. Try again tomorrow.")
        raise DomainError("rate_limited", sentence % {"count": MOST_IN_A_DAY})
    invited_by = acting_member(organization_id, actor)
    invitation = Invitation(organization=organization, email=email, role=role, invited_by=invited_by)
    invited = _with_new_link(invitation)
    note(organization_id, actor, Action.MEMBER_INVITED, email, after={"role": role})
    return invited


@transaction.atomic
def resend_invitation(organization_id: int, actor: Actor, invitation_id: int, network: str) -> Invited:
    """Give the invitation a new link, which ends the one before. ``network``: where the member calls from.

    Raise ``DomainError``: ``not_found``, ``forbidden``, ``rate_limited`` (:func:`count_resend`).
    """
    invitation = _changeable(organization_id, actor, invitation_id)
    count_resend(invitation, network)
    invited = _with_new_link(invitation)
    note(organization_id, actor, Action.INVITATION_RESENT, invitation.email, after={"role": invitation.role})
    return invited


@transaction.atomic
def withdraw_invitation(organization_id: int, actor: Actor, invitation_id: int) -> Invitation:
    """End the invitation and its link. Raise ``DomainError``: ``not_found``, ``forbidden``."""
    invitation = _changeable(organization_id, actor, invitation_id)
    _withdraw(actor, invitation)
    return invitation


@transaction.atomic
def accept_invitation(secret: str, user: User, actor: Actor) -> Member:
    """Make the person whom the invitation went to a member.

    Raise ``DomainError``: ``not_found`` for an unknown link, ``expired`` for one that is no longer open, ``forbidden``
    for another person's.
    """
    found = invitation_of(secret)
    if found is None:
        raise DomainError("not_found", _("This link is unknown."))
    locked_organization(found.organization_id)
    invitation = invitation_of(secret)  # as it is now: resent, withdrawn or accepted meanwhile
    if invitation is None or state(invitation) != State.OPEN:
        raise DomainError("expired", _("This invitation is no longer open."))
    if invitation.email != user.email:
        raise DomainError("forbidden", _("This invitation is for another address."))
    invitation.accepted_at = clock.now()
    invitation.save(update_fields=["accepted_at"])
    member, is_new = Member.objects.get_or_create(
        organization_id=invitation.organization_id, user=user, defaults={"role": invitation.role}
    )
    if is_new:
        facts = {"role": member.role, "invitation": invitation.pk}
        note(invitation.organization_id, actor, Action.MEMBER_JOINED, user.email, after=facts)
    return member


def withdraw_what_is_not_grantable(actor: Actor, member: Member, roles: list[Role]) -> None:
    """Withdraw the member's invitations to other roles than these, when they lose a role: nobody comes back by an
    invitation of their own."""
    for invitation in _open(member.organization_id).filter(invited_by=member).exclude(role__in=roles):
        _withdraw(actor, invitation)


def _open(organization_id: int) -> QuerySet[Invitation]:
    """Return the invitations that are neither accepted nor withdrawn, also those whose link has expired: they can be
    sent again."""
    return Invitation.objects.filter(organization_id=organization_id, accepted_at=None, withdrawn_at=None)


def _changeable(organization_id: int, actor: Actor, invitation_id: int) -> Invitation:
    locked_organization(organization_id)
    rows = _open(organization_id).select_related("organization", "invited_by__user")
    invitation = existing(rows.filter(pk=invitation_id), _("There is no such invitation."))
    require_grantable(organization_id, actor, invitation.role)
    return invitation


def _withdraw(actor: Actor, invitation: Invitation) -> None:
    invitation.withdrawn_at = clock.now()
    invitation.save(update_fields=["withdrawn_at"])
    facts = {"role": invitation.role}
    note(invitation.organization_id, actor, Action.INVITATION_WITHDRAWN, invitation.email, before=facts)


def _with_new_link(invitation: Invitation) -> Invited:
    """Give the invitation a new link. Its secret is in the mail alone; what is kept is the hash."""
    secret, now = tokens.base64url(tokens.random_bytes(32)), clock.now()
    invitation.secret_sha256 = tokens.sha256(secret.encode())
    invitation.sent_at, invitation.expires_at = now, now + VALID
    invitation.save()
    return Invited(invitation, f"{settings.PARAPH.public_url}{reverse('invitation', args=[secret])}")
