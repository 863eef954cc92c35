"""``/app/{o}/members``: members and open invitations, which ``POST`` adds to; ``…/{id}``: one member."""

from functools import wraps
from typing import Any, NamedTuple

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.dashboard.decorators import View, actor, done, member_page, reauthenticated, see_other, show, told_in
from paraph.dashboard.invitations import mail_invitation
from paraph.kernel.errors import DomainError
from paraph.messaging.gateways import EMAIL, destination_hash, has_gateway
from paraph.messaging.models import RefusedAddress
from paraph.server.client_address import client_address, guarded_network
from paraph.tenants.accounts import with_second_factor
from paraph.tenants.members import (
    Right,
    State,
    change_role,
    grantable,
    invite,
    may,
    remove_member,
    resend_invitation,
    state,
    transfer_ownership,
    withdraw_invitation,
)
from paraph.tenants.models import Invitation, Member, Role

_ABOUT_THE_ADDRESS = ("conflict", "validation_error")  # the role is checked before it is handed on
_NEEDS_PROOF = (Role.ADMIN, Role.OWNER)


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=gettext_lazy("Role"), initial=Role.MEMBER)

    def __init__(self, *args: Any, own_role: str, **more: Any) -> None:
        super().__init__(*args, **more)
        choice: Any = self.fields["role"]
        choice.choices = [(role.value, role.label) for role in grantable(own_role)]


class InviteForm(RoleForm):
    email = forms.EmailField(
        label=gettext_lazy("E-mail"), max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "off"})
    )
    field_order = ("email", "role")


def members(request: HttpRequest, organization_id: int) -> HttpResponse:
    """Show the members to everybody; take an invitation from whoever may invite."""
    return (_invite if request.method == "POST" else _list)(request, organization_id)


@member_page(Right.SEE)
def _list(request: HttpRequest, member: Member) -> HttpResponse:
    return _page(request, member)


@member_page(Right.INVITE)
def _invite(request: HttpRequest, member: Member) -> HttpResponse:
    """Invite somebody. Whoever invites an admin or owner proves first who they are, as for a change of role."""
    asked: View = reauthenticated(_invited) if request.POST.get("role") in _NEEDS_PROOF else _invited
    return asked(request, member)


def _invited(request: HttpRequest, member: Member) -> HttpResponse:
    form = InviteForm(request.POST, own_role=member.role)
    if form.is_valid():
        given = form.cleaned_data
        try:
            with transaction.atomic():
                made = invite(member.organization_id, actor(request, member), given["email"], given["role"])
                mail_invitation(made)
        except DomainError as refusal:
            form.add_error("email" if refusal.code in _ABOUT_THE_ADDRESS else None, refusal.message)
        else:
            mailed = _("The invitation to %(email)s is on its way.")
            kept = _("The invitation to %(email)s was not mailed; the service keeps it.")
            _tell(request, made.invitation.email, mailed, kept)
            return see_other("members", member.organization_id)
    return _page(request, member, form)


def _tell(request: HttpRequest, email: str, mailed: str, kept: str) -> None:
    """Say what became of an invitation: without a mail server, it is kept."""
    if has_gateway(EMAIL):
        messages.success(request, mailed % {"email": email})
    else:
        messages.warning(request, kept % {"email": email})


def _page(request: HttpRequest, member: Member, form: InviteForm | None = None, problem: str = "") -> HttpResponse:
    """Return the page, with an invitation or another action that was refused: 422."""
    may_invite = may(member.role, Right.INVITE)
    content = {
        "rows": _member_rows(member),
        "invitations": _invitation_rows(member),
        "may_invite": may_invite,
        "form": (form or InviteForm(own_role=member.role)) if may_invite else None,
        "problem": problem,
    }
    return show(request, "members/listing.html", content, member=member)


class _MemberRow(NamedTuple):
    """``refusal`` says why the viewer may not change this member, "" where they may, or may change nobody; ``mail``: as
    of an :class:`_InvitationRow`."""

    member: Member
    is_self: bool
    has_second_factor: bool
    may_change: bool
    refusal: str
    mail: RefusedAddress | None


class _InvitationRow(NamedTuple):
    """``mail``: the refusal of the newest mail to the address, None where it was taken."""

    invitation: Invitation
    state: State
    may_change: bool
    mail: RefusedAddress | None


def _member_rows(viewer: Member) -> list[_MemberRow]:
    rows = Member.objects.filter(organization_id=viewer.organization_id).select_related("user")
    members = list(rows.order_by("joined_at", "pk"))
    protected = with_second_factor([member.user_id for member in members])
    may_change = may(viewer.role, Right.INVITE)
    mails = _refused([member.user.email for member in members])
    return [
        _MemberRow(each, each.pk == viewer.pk, each.user_id in protected, may_change and not refusal, refusal, mail)
        for each, mail in zip(members, mails, strict=True)
        for refusal in [_refusal(viewer, each, members) if may_change else ""]
    ]


def _invitation_rows(viewer: Member) -> list[_InvitationRow]:
    """Return the open invitations, the newest first; also those whose link has expired."""
    rows = Invitation.objects.filter(
        organization_id=viewer.organization_id, accepted_at=None, withdrawn_at=None
    ).select_related("invited_by__user")
    roles, found = grantable(viewer.role), list(rows.order_by("-created_at", "-pk"))
    mails = _refused([row.email for row in found])
    return [_InvitationRow(row, state(row), row.role in roles, mail) for row, mail in zip(found, mails, strict=True)]


def _refused(addresses: list[str]) -> list[RefusedAddress | None]:
    """Return of each address the refusal of the newest mail there."""
    names = [destination_hash(address) for address in addresses]
    known = RefusedAddress.objects.in_bulk(names)
    return [known.get(name) for name in names]


def _refusal(viewer: Member, member: Member, members: list[Member]) -> str:
    """Return why the viewer, who may change members, may not change this one."""
    if member.role not in grantable(viewer.role):
        return _("Only owners can change admins and owners.")
    if member.role == Role.OWNER and sum(each.role == Role.OWNER for each in members) == 1:
        return _("You are the only owner. Make someone else an owner first.")
    return ""


@member_page(Right.INVITE, fresh=True)
def person(request: HttpRequest, member: Member, member_id: int) -> HttpResponse:
    row = next((row for row in _member_rows(member) if row.member.pk == member_id), None)
    if row is None:
        raise Http404
    form = RoleForm(request.POST or None, own_role=member.role, initial={"role": row.member.role})
    if request.method == "POST" and form.is_valid():
        with told_in(form):
            change_role(member.organization_id, actor(request, member), member_id, form.cleaned_data["role"])
            return done(request, _("The role was changed."), "members", member.organization_id)
    content = {"row": row, "form": form, "may_transfer": member.role == Role.OWNER and not row.is_self}
    return show(request, "members/person.html", content, member=member)


def _action(view: View) -> View:
    """Decorate what a form of the page does: a refusal stands on the page."""

    @wraps(view)
    def action(request: HttpRequest, member: Member, **address: int) -> HttpResponse:
        try:
            return view(request, member, **address)
        except DomainError as refusal:
            return _page(request, member, problem=refusal.message)

    return action


@member_page(Right.INVITE, post_only=True, fresh=True)
@_action
def remove(request: HttpRequest, member: Member, member_id: int) -> HttpResponse:
    remove_member(member.organization_id, actor(request, member), member_id)
    if member_id == member.pk:
        return see_other("organizations")
    messages.success(request, _("The member was removed and their invitations were withdrawn."))
    return see_other("members", member.organization_id)


@member_page(Right.SEE, post_only=True, fresh=True)
@_action
def leave(request: HttpRequest, member: Member) -> HttpResponse:
    remove_member(member.organization_id, actor(request, member), member.pk)
    return see_other("organizations")


@member_page(Right.RULE, post_only=True, fresh=True)
@_action
def transfer(request: HttpRequest, member: Member, member_id: int) -> HttpResponse:
    transfer_ownership(member.organization_id, actor(request, member), member_id)
    return done(request, _("Ownership was transferred; you are now an admin."), "members", member.organization_id)


@member_page(Right.INVITE, post_only=True)
@_action
def resend(request: HttpRequest, member: Member, invitation_id: int) -> HttpResponse:
    by, network = actor(request, member), guarded_network(client_address(request))
    with transaction.atomic():
        sent = resend_invitation(member.organization_id, by, invitation_id, network)
        mail_invitation(sent)
    mailed = _("The invitation to %(email)s is on its way again; earlier links no longer work.")
    kept = _("A new invitation to %(email)s was not mailed; the service keeps it. Earlier links no longer work.")
    _tell(request, sent.invitation.email, mailed, kept)
    return see_other("members", member.organization_id)


@member_page(Right.INVITE, post_only=True)
@_action
def withdraw(request: HttpRequest, member: Member, invitation_id: int) -> HttpResponse:
    ended = withdraw_invitation(member.organization_id, actor(request, member), invitation_id)
    messages.success(request, _("The invitation to %(email)s was withdrawn.") % {"email": ended.email})
    return see_other("members", member.organization_id)
