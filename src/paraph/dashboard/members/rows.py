"""What the page of members says of each member and each invitation, and what may be done with them."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from paraph.tenants.accounts import with_second_factor
from paraph.tenants.invitations import State, state
from paraph.tenants.models import Invitation, Member, Role
from paraph.tenants.rights import Right, grantable, may


@dataclass(frozen=True)
class MemberRow:
    """``refusal`` says why the viewer may not change this member, "" where they may, or may change nobody."""

    member: Member
    is_self: bool
    has_second_factor: bool
    may_change: bool
    refusal: str


@dataclass(frozen=True)
class InvitationRow:
    invitation: Invitation
    state: State
    may_change: bool


def member_rows(viewer: Member) -> list[MemberRow]:
    rows = Member.objects.filter(organization_id=viewer.organization_id).select_related("user")
    members = list(rows.order_by("joined_at", "pk"))
    protected = with_second_factor([member.user_id for member in members])
    return [member_row(viewer, member, members, has_second_factor=member.user_id in protected) for member in members]


def member_row(viewer: Member, member: Member, members: list[Member], *, has_second_factor: bool) -> MemberRow:
    refusal = _refusal(viewer, member, members)
    may_change = may(viewer.role, Right.INVITE) and not refusal
    return MemberRow(member, member.pk == viewer.pk, has_second_factor, may_change, refusal)


def invitation_rows(viewer: Member) -> list[InvitationRow]:
    """Return the open invitations, the newest first; also those whose link has expired."""
    rows = Invitation.objects.filter(
        organization_id=viewer.organization_id, accepted_at=None, withdrawn_at=None
    ).select_related("invited_by__user")
    roles = grantable(viewer.role)
    return [InvitationRow(row, state(row), row.role in roles) for row in rows.order_by("-created_at", "-pk")]


def _refusal(viewer: Member, member: Member, members: list[Member]) -> str:
    if not may(viewer.role, Right.INVITE):
        return ""
    if member.role not in grantable(viewer.role):
        return _("Only owners can change admins and owners.")
    if member.role == Role.OWNER and sum(each.role == Role.OWNER for each in members) == 1:
        return _("There must be an owner: make another member an owner first.")
    return ""
