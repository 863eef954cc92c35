"""Invitations: made, sent again by a new link, withdrawn, accepted. Nobody invites above their own role."""

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import override

from paraph.administration.locked import locked_organization
from paraph.administration.role_rules import acting_member, check_role, require_grantable
from paraph.flow.messages.mail_account import AccountMail, hand_over
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.unlinked import unlinked
from paraph.tenants.accounts import checked_address
from paraph.tenants.admin_log.actions import Action
from paraph.tenants.admin_log.actor import Actor
from paraph.tenants.admin_log.log import note
from paraph.tenants.invitations import (
    VALID,
    State,
    count_resend,
    invitation_of,
    new_link,
    require_room_to_invite,
    state,
)
from paraph.tenants.models import Invitation, Member, Organization, Role, User

_LONGEST_NAME = 80


@transaction.atomic
def invite(organization_id: int, actor: Actor, email: str, role: str, language: str) -> Invitation:
    """Invites the address by a mail in ``language``, whose link is valid for 7 days.

    Raises ``DomainError``: ``not_found``, ``validation_error``, ``forbidden``, ``conflict`` for who is a member or
    invited already, ``rate_limited`` after 20 invitations within 24 hours.
    """
    organization = locked_organization(organization_id)
    check_role(role)
    require_grantable(organization_id, actor, role)
    email = checked_address(email)
    if Member.objects.filter(organization=organization, user__email=email).exists():
        raise DomainError("conflict", _("%(email)s is a member already.") % {"email": email})
    if _open(organization_id).filter(email=email).exists():
        sentence = _("%(email)s is invited already: send that invitation again, or withdraw it.")
        raise DomainError("conflict", sentence % {"email": email})
    require_room_to_invite(organization_id)
    invited_by = acting_member(organization_id, actor)
    invitation = Invitation(organization=organization, email=email, role=role, invited_by=invited_by)
    _send(invitation, language)
    note(organization_id, actor, Action.MEMBER_INVITED, email, after={"role": role})
    return invitation


@transaction.atomic
def resend_invitation(
    organization_id: int, actor: Actor, invitation_id: int, network: str, language: str
) -> Invitation:
    """Sends the invitation again with a new link, which ends the one before. ``network``: where the member calls from.

    Raises ``DomainError``: ``not_found``, ``forbidden``, ``rate_limited`` (:func:`count_resend`).
    """
    invitation = _changeable(organization_id, actor, invitation_id)
    count_resend(invitation, network)
    _send(invitation, language)
    note(organization_id, actor, Action.INVITATION_RESENT, invitation.email, after={"role": invitation.role})
    return invitation


@transaction.atomic
def withdraw_invitation(organization_id: int, actor: Actor, invitation_id: int) -> Invitation:
    """Ends the invitation and its link. Raises ``DomainError``: ``not_found``, ``forbidden``."""
    invitation = _changeable(organization_id, actor, invitation_id)
    _withdraw(actor, invitation)
    return invitation


@transaction.atomic
def accept_invitation(secret: str, user: User, actor: Actor) -> Member:
    """Makes the person whom the invitation went to a member.

    Raises ``DomainError``: ``not_found`` for an unknown link, ``expired`` for one that is no longer open, ``forbidden``
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
    """Withdraws the member's invitations to other roles than these, when they lose a role: nobody comes back by an
    invitation of their own."""
    for invitation in _open(member.organization_id).filter(invited_by=member).exclude(role__in=roles):
        _withdraw(actor, invitation)


def _open(organization_id: int) -> QuerySet[Invitation]:
    """Neither accepted nor withdrawn; also those whose link has expired, which can be sent again."""
    return Invitation.objects.filter(organization_id=organization_id, accepted_at=None, withdrawn_at=None)


def _changeable(organization_id: int, actor: Actor, invitation_id: int) -> Invitation:
    locked_organization(organization_id)
    rows = _open(organization_id).select_related("organization", "invited_by__user")
    invitation = rows.filter(pk=invitation_id).first()
    if invitation is None:
        raise DomainError("not_found", _("There is no such invitation."))
    require_grantable(organization_id, actor, invitation.role)
    return invitation


def _withdraw(actor: Actor, invitation: Invitation) -> None:
    invitation.withdrawn_at = clock.now()
    invitation.save(update_fields=["withdrawn_at"])
    facts = {"role": invitation.role}
    note(invitation.organization_id, actor, Action.INVITATION_WITHDRAWN, invitation.email, before=facts)


def _send(invitation: Invitation, language: str) -> None:
    """Gives the invitation a new link, and hands its mail over in the same transaction."""
    link = new_link()
    invitation.secret_sha256 = link.secret_sha256
    invitation.sent_at = clock.now()
    invitation.expires_at = invitation.sent_at + VALID
    invitation.save()
    with override(language):
        hand_over(_mail(invitation, invitation.organization, link.url, language))


def _name(inviter: User) -> str:
    """An address is their own, and confirmed: where it leads is no secret."""
    return unlinked(inviter.name, _LONGEST_NAME) if inviter.name else inviter.email


def _mail(invitation: Invitation, organization: Organization, url: str, language: str) -> AccountMail:
    sender = unlinked(organization.name, _LONGEST_NAME)
    inviter = invitation.invited_by.user if invitation.invited_by else None
    names = {
        "organization": sender,
        "person": _name(inviter) if inviter else sender,
        "role": invitation.get_role_display(),
        "day": invitation.expires_at.strftime("%Y-%m-%d"),
    }
    paragraphs = [
        _("%(person)s invites you to join %(organization)s on Paraph. Your role will be: %(role)s.") % names,
        url,
        _("The link works until %(day)s. If you did not expect this invitation, you can ignore it.") % names,
    ]
    return AccountMail(invitation.email, language, _("Join %(organization)s") % names, "\n\n".join(paragraphs), url)
