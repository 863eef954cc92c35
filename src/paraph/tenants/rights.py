"""What each role may do in its organization."""

from enum import StrEnum

from paraph.tenants.models import Role


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
    """The roles that have the right, the least first."""
    return [role for role in _RANK if right in _RIGHTS[role]]


def grantable(role: str) -> list[Role]:
    """The roles that a member of this role may give or take, the least first: owners all, admins those below their
    own."""
    if Role(role) == Role.OWNER:
        return list(_RANK)
    return [Role.OBSERVER, Role.MEMBER] if may(role, Right.INVITE) else []
