"""What each role can do in its organization. Nobody gives or takes a role above their own.

Each verb locks the organization's row before it asks, so that two that run at once cannot both pass a rule.
"""

from enum import StrEnum

from django.utils.translation import gettext as _

from paraph.kernel.errors import DomainError
from paraph.tenants.admin_log import Actor
from paraph.tenants.models import ActorKind, Member, Role


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
    """Return the roles that have the right, the least first."""
    return [role for role in _RANK if right in _RIGHTS[role]]


def grantable(role: str) -> list[Role]:
    """Return the roles that a member of this role may give or take, the least first: owners all, admins those below
    their own."""
    if Role(role) == Role.OWNER:
        return list(_RANK)
    return [Role.OBSERVER, Role.MEMBER] if may(role, Right.INVITE) else []


def require_grantable(organization_id: int, actor: Actor, *roles: str) -> None:
    """Refuse a member who may not give and take all of the roles, by the role that they have now."""
    if actor.kind != ActorKind.MEMBER:
        return
    own = acting_member(organization_id, actor)
    if own is None or not set(roles) <= set(grantable(own.role)):
        raise DomainError("forbidden", _("You cannot grant or remove a role above your own."))


def acting_member(organization_id: int, actor: Actor) -> Member | None:
    return Member.objects.filter(organization_id=organization_id, user_id=actor.id or 0).first()
