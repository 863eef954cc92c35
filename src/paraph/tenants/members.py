"""Making people members of an organization, changing their role, removing them.

An organization keeps an owner. Invitations that the member made and could no longer make end with their role.
"""

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from paraph.kernel.errors import DomainError
from paraph.tenants.accounts import account, end_sessions, set_first_password
from paraph.tenants.admin_log import OPERATOR, Action, Actor, note
from paraph.tenants.invitations import withdraw_what_is_not_grantable
from paraph.tenants.models import ActorKind, Member, Organization, Role
from paraph.tenants.organizations import change_settings, locked_organization, require_choice
from paraph.tenants.rights import acting_member, grantable, require_grantable
from paraph.tenants.scope import existing


@transaction.atomic
def create_member(
    organization_id: int, actor: Actor, email: str, role: str, *, name: str = "", password: str = ""
) -> Member:
    """Make the person with this address a member, and an account for them where they have none.

    ``password`` sets the account's first one; an account that has one keeps its own, and giving one is refused. Raise
    ``DomainError``: ``not_found``, ``validation_error``, ``forbidden``, ``conflict`` for who is a member already.
    """
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
    """Give a member another role. Owners may step down while another owner stays.

    Raise ``DomainError``: ``not_found``, ``validation_error``, ``forbidden``, ``conflict`` for the last owner.
    """
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
    """Remove a member; everybody may remove themselves. With the last organization end the account's sessions.

    Raise ``DomainError``: ``not_found``, ``forbidden``, ``conflict`` for the last owner.
    """
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
    """Make another member an owner, and the acting owner an admin.

    Raise ``DomainError``: ``not_found``, ``forbidden``, ``conflict`` for oneself.
    """
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
    """Make the owner, once, and name the organization, unless ``organization`` is "". Raise ``DomainError``:
    ``expired`` as above, ``validation_error``."""
    first = Organization.objects.select_for_update(no_key=True).order_by("pk").first()
    check_first_owner_token(token)
    if first is None:
        raise _outdated()
    if organization:
        change_settings(first.pk, OPERATOR, name=organization)
    return create_member(first.pk, OPERATOR, email, Role.OWNER, name=name, password=password)


def _outdated() -> DomainError:
    return DomainError("expired", _("This link has expired: it creates the first owner, once, within an hour."))
