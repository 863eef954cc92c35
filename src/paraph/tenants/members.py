"""Members of an organization: what each role can do, making people members, inviting them, changing their role,
removing them (rule 8). Each verb locks the organization's row before it asks what the actor may do, so that two that
run at once cannot both pass a rule. Nobody gives or takes a role above their own, and an organization keeps an
owner."""

from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from paraph.counts.counting import Ceiling, count
from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.kernel.rates import HOUR
from paraph.messaging.gateways import destination_hash
from paraph.tenants.accounts import account, checked_address, end_sessions, set_first_password
from paraph.tenants.admin_log import OPERATOR, Action, Actor, note
from paraph.tenants.models import ActorKind, Invitation, Member, Organization, Role, User
from paraph.tenants.organizations import change_settings, locked_organization, require_choice
from paraph.tenants.scope import existing


class Right(StrEnum):
    """``SEE``: requests, documents, journal, downloads, and who the members are. ``SEND``: upload, send, remind, end
    early. ``BUILD``: applications, keys, deliveries, branding. ``INVITE``: invite and remove members and observers.
    ``RULE``: admins and owners, single sign-on, deletion, transfer. ``AUDIT``: the whole activity log; everybody sees
    their own acts."""

    SEE = "see"
    SEND = "send"
    BUILD = "build"
    INVITE = "invite"
    RULE = "rule"
    AUDIT = "audit"


_RIGHTS = {
    Role.OBSERVER: {Right.SEE, Right.AUDIT},
    Role.MEMBER: {Right.SEE, Right.SEND},
    Role.ADMIN: {Right.SEE, Right.SEND, Right.BUILD, Right.INVITE, Right.AUDIT},
    Role.OWNER: set(Right),
}
_RANK = [Role.OBSERVER, Role.MEMBER, Role.ADMIN, Role.OWNER]


def may(role: str, right: Right) -> bool:
    return right in _RIGHTS[Role(role)]


def roles_with(right: Right) -> list[Role]:
    """Return the roles that have the right, the lowest first."""
    return [role for role in _RANK if right in _RIGHTS[role]]


def grantable(role: str) -> list[Role]:
    """Return the roles that a member of this role may give or take, the lowest first: owners all, admins those below
    their own."""
    if Role(role) == Role.OWNER:
        return list(_RANK)
    return [Role.OBSERVER, Role.MEMBER] if may(role, Right.INVITE) else []


def require_grantable(organization_id: int, actor: Actor, *roles: str) -> None:
    """Raise ``DomainError("forbidden", …)`` for a member whose current role may not give and take all of ``roles``."""
    if actor.kind != ActorKind.MEMBER:
        return
    own = acting_member(organization_id, actor)
    if own is None or not set(roles) <= set(grantable(own.role)):
        raise DomainError("forbidden", _("You cannot grant or remove a role above your own."))


def acting_member(organization_id: int, actor: Actor) -> Member | None:
    return Member.objects.filter(organization_id=organization_id, user_id=actor.id or 0).first()


@transaction.atomic
def create_member(
    organization_id: int, actor: Actor, email: str, role: str, *, name: str = "", password: str = ""
) -> Member:
    """Make the person with this address a member, and an account for them where they have none. ``password`` sets the
    account's first one, and is refused for an account that has one already. Raise ``DomainError``: ``not_found``,
    ``validation_error``, ``forbidden``, ``conflict`` for somebody who is a member already."""
    organization = locked_organization(organization_id)
    require_choice("role", role, Role.values)
    require_grantable(organization_id, actor, role)
    user = account(email, name)
    if password:
        set_first_password(user, password)
    member, is_new = Member.objects.get_or_create(organization=organization, user=user, defaults={"role": role})
    if not is_new:
        raise DomainError("conflict", _("%(email)s is already a member.") % {"email": user.email})
    note(organization_id, actor, Action.MEMBER_JOINED, user.email, after={"role": role})
    return member


@transaction.atomic
def change_role(organization_id: int, actor: Actor, member_id: int, role: str) -> Member:
    """Give a member another role. Owners may step down while another owner stays. Raise ``DomainError``: ``not_found``,
    ``validation_error``, ``forbidden``, ``conflict`` for the last owner."""
    locked_organization(organization_id)
    require_choice("role", role, Role.values)
    member = _member(organization_id, member_id)
    require_grantable(organization_id, actor, role, member.role)
    if role == member.role:
        return member
    _keep_an_owner(member)
    before, member.role = member.role, role
    member.save(update_fields=["role"])
    withdraw_what_is_not_grantable(actor, member, grantable(role))
    email = member.user.email
    note(organization_id, actor, Action.MEMBER_ROLE_CHANGED, email, before={"role": before}, after={"role": role})
    return member


@transaction.atomic
def remove_member(organization_id: int, actor: Actor, member_id: int) -> None:
    """Remove a member; everybody may remove themselves. Leaving the last organization ends the account's sessions.
    Raise ``DomainError``: ``not_found``, ``forbidden``, ``conflict`` for the last owner."""
    locked_organization(organization_id)
    member = _member(organization_id, member_id)
    leaves = actor.kind == ActorKind.MEMBER and actor.id == member.user_id
    if not leaves:
        require_grantable(organization_id, actor, member.role)
    _keep_an_owner(member)
    withdraw_what_is_not_grantable(actor, member, [])
    member.delete()
    if not member.user.memberships.exists():
        end_sessions(member.user)
    action = Action.MEMBER_LEFT if leaves else Action.MEMBER_REMOVED
    note(organization_id, actor, action, member.user.email, before={"role": member.role})


@transaction.atomic
def transfer_ownership(organization_id: int, actor: Actor, member_id: int) -> None:
    """Make another member an owner, and the acting owner an admin. Raise ``DomainError``: ``not_found``, ``forbidden``,
    ``conflict`` for oneself."""
    locked_organization(organization_id)
    own, heir = acting_member(organization_id, actor), _member(organization_id, member_id)
    if own is None or own.role != Role.OWNER:
        raise DomainError("forbidden", _("Only an owner can transfer the organization."))
    if own.pk == heir.pk:
        raise DomainError("conflict", _("You are already an owner: choose another member."))
    change_role(organization_id, actor, heir.pk, Role.OWNER)
    change_role(organization_id, actor, own.pk, Role.ADMIN)


def _member(organization_id: int, member_id: int) -> Member:
    members = Member.objects.select_related("user").filter(organization_id=organization_id)
    return existing(members.filter(pk=member_id), _("There is no such member."))


def _keep_an_owner(member: Member) -> None:
    others = Member.objects.filter(organization_id=member.organization_id, role=Role.OWNER).exclude(pk=member.pk)
    if member.role == Role.OWNER and not others.exists():
        raise DomainError("conflict", _("The last owner cannot leave: make another member an owner first."))


_VALID_SECONDS = 3600
_SIGNER = signing.TimestampSigner(salt="paraph.first_owner")


def first_owner_link() -> str:
    """Return a link that makes the first owner within the hour, "" where there is a member or no organization."""
    if Member.objects.exists() or not Organization.objects.exists():
        return ""
    return f"{settings.PARAPH.public_url}{reverse('first_owner', args=[_SIGNER.sign('owner')])}"


def check_first_owner_token(token: str) -> None:
    """Raise ``DomainError("expired", …)`` for a link that is over an hour old, was never made, or has been used."""
    try:
        _SIGNER.unsign(token, max_age=_VALID_SECONDS)
    except signing.BadSignature as problem:
        raise _outdated() from problem
    if Member.objects.exists():
        raise _outdated()


@transaction.atomic
def make_first_owner(token: str, name: str, email: str, password: str, organization: str = "") -> Member:
    """Make the first owner, once, and name the organization, unless ``organization`` is "". Raise ``DomainError``:
    ``expired`` as :func:`check_first_owner_token` does, ``validation_error``."""
    first = Organization.objects.select_for_update(no_key=True).order_by("pk").first()
    check_first_owner_token(token)
    if first is None:
        raise _outdated()
    if organization:
        change_settings(first.pk, OPERATOR, name=organization)
    return create_member(first.pk, OPERATOR, email, Role.OWNER, name=name, password=password)


def _outdated() -> DomainError:
    return DomainError("expired", _("This link has expired: it creates the first owner, once, within an hour."))


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
    """Return the invitation whose newest link has the secret; None if there is none, or its organization is deleted."""
    invitations = Invitation.objects.select_related("organization", "invited_by__user")
    return invitations.filter(secret_sha256=tokens.sha256(secret.encode()), organization__deleted_at=None).first()


def state(invitation: Invitation) -> State:
    if invitation.accepted_at:
        return State.ACCEPTED
    if invitation.withdrawn_at:
        return State.WITHDRAWN
    return State.OPEN if clock.now() < invitation.expires_at else State.EXPIRED


def count_resend(invitation: Invitation, network: str) -> None:
    """Count an invitation that is sent again: 3 for a member in 10 minutes, also if it was withdrawn and made anew, and
    30 from a network in an hour. ``network``: an IPv4 address, or the /64 of an IPv6 address. Raise
    ``DomainError("rate_limited", …)``, which rolls the caller's transaction back: a refused resend does not count."""
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
    """Invite the address, by a link that is valid for 7 days. Raise ``DomainError``: ``not_found``,
    ``validation_error``, ``forbidden``, ``conflict`` for somebody who is a member or invited already, ``rate_limited``
    after 20 invitations within 24 hours."""
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
    """Give the invitation a new link, which makes the earlier one invalid. ``network``: where the member calls from.
    Raise ``DomainError``: ``not_found``, ``forbidden``, ``rate_limited`` (:func:`count_resend`)."""
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
    """Make the person whom the invitation went to a member. Raise ``DomainError``: ``not_found`` for an unknown link,
    ``expired`` for one that is no longer open, ``forbidden`` for another person's."""
    found = invitation_of(secret)
    if found is None:
        raise DomainError("not_found", _("This link is unknown."))
    locked_organization(found.organization_id)
    invitation = invitation_of(secret)  # again, under the lock: it may have changed meanwhile
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
    """Withdraw the invitations of a member who loses a role, except those to these ``roles``: nobody may regain a role
    through an invitation of their own."""
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
    """Give the invitation a new link. Its secret is only in the mail; the database has its hash."""
    secret, now = tokens.base64url(tokens.random_bytes(32)), clock.now()
    invitation.secret_sha256 = tokens.sha256(secret.encode())
    invitation.sent_at, invitation.expires_at = now, now + VALID
    invitation.save()
    return Invited(invitation, f"{settings.PARAPH.public_url}{reverse('invitation', args=[secret])}")
