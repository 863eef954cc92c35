"""``/app/{o}/members``: members and open invitations, which ``POST`` adds to; ``…/{id}``: one member.
``/invitations/{secret}``: what somebody is invited to. ``GET`` explains and changes nothing, since mail scanners
follow links; ``POST`` accepts."""

from functools import wraps
from typing import Any, NamedTuple
from urllib.parse import urlencode

from allauth.account.adapter import get_adapter
from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from paraph.account_mail.mail_account import hand_over
from paraph.dashboard.decorators import (
    View,
    actor,
    actor_of,
    done,
    member_page,
    reauthenticated,
    refusals_in,
    see_other,
    show,
)
from paraph.kernel.errors import DomainError
from paraph.messaging.gateways import EMAIL, destination_hash, has_gateway
from paraph.messaging.letters import unlinked
from paraph.messaging.models import RefusedAddress
from paraph.server.client_address import client_address, guarded_network
from paraph.tenants.accounts import with_second_factor
from paraph.tenants.members import (
    Invited,
    Right,
    State,
    accept_invitation,
    change_role,
    grantable,
    invitation_of,
    invite,
    may,
    remove_member,
    resend_invitation,
    state,
    transfer_ownership,
    withdraw_invitation,
)
from paraph.tenants.models import Invitation, Member, Role, User

_ABOUT_THE_ADDRESS = ("conflict", "validation_error")  # the form has checked the role by then
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


@member_page(Right.SEE, post=Right.INVITE)
def members(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the members to everybody; take an invitation from whoever may invite. Whoever invites an admin or owner
    proves first who they are, as for a change of role."""
    if request.method != "POST":
        return _page(request, member)
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
    """Return the page; with an invitation or another action that was refused, as a 422."""
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
    """``refusal`` says why the viewer may not change this member, "" where they may, or may change nobody."""

    member: Member
    is_self: bool
    has_second_factor: bool
    may_change: bool
    refusal: str
    mail: RefusedAddress | None


class _InvitationRow(NamedTuple):
    """``mail``, here and above: the refusal of the newest mail to the address, None where it was taken."""

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
    """Return for each address the refusal of the newest mail to it, None where that was taken."""
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
        with refusals_in(form):
            change_role(member.organization_id, actor(request, member), member_id, form.cleaned_data["role"])
            return done(request, _("The role was changed."), "members", member.organization_id)
    content = {"row": row, "form": form, "may_transfer": member.role == Role.OWNER and not row.is_self}
    return show(request, "members/person.html", content, member=member)


def _action(view: View) -> View:
    """Decorate the view of a form on the page, so that the page says why the form was refused."""

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


_ACCEPTS = "accepts_invitation"  # in a session: whoever pressed the button before logging in need not press again


@never_cache
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Return the page for whoever is invited: newcomers make an account, others log in, and both are members then."""
    found = invitation_of(secret)
    if found is None:
        return show(request, "invitation/unknown.html", {}, status=404)
    if state(found) != State.OPEN:
        return show(request, "invitation/over.html", {"invitation": found, "state": state(found)}, status=410)
    if not request.user.is_authenticated:
        return _to_stranger(request, found)
    user = request.user
    if user.email != found.email:
        return show(request, "invitation/wrong_account.html", {"invitation": found}, status=403)
    if request.method == "POST" or request.session.pop(_ACCEPTS, None) == found.pk:
        return _accepted(request, secret, user)
    return show(request, "invitation/open.html", {"invitation": found})


def _to_stranger(request: HttpRequest, found: Invitation) -> HttpResponse:
    """Ask to log in, or to make an account. The link proves that its reader has the address, so the page may tell
    whether there is an account, and the address of a new account counts as confirmed."""
    has_account = User.objects.filter(email=found.email).exists()
    if request.method != "POST":
        content = {"invitation": found, "has_account": has_account, "single_sign_on": bool(settings.PARAPH.sso_issuer)}
        return show(request, "invitation/open.html", content)
    request.session[_ACCEPTS] = found.pk
    if not has_account:
        get_adapter(request).stash_verified_email(request, found.email)
    entry = reverse("account_login" if has_account else "account_signup")
    return see_other(f"{entry}?{urlencode({'next': request.path})}")


def _accepted(request: HttpRequest, secret: str, user: User) -> HttpResponse:
    try:
        member = accept_invitation(secret, user, actor_of(user, request))
    except DomainError:
        return see_other(request.path)  # the invitation ended meanwhile: its page says how
    return see_other("home", member.organization_id)


_LONGEST_NAME = 80


def mail_invitation(invited: Invited) -> None:
    """Hand the mail with the link over to a job, in the language of whoever invites. Call it in the transaction of the
    invitation."""
    invitation = invited.invitation
    sender = unlinked(invitation.organization.name, _LONGEST_NAME)
    inviter = invitation.invited_by.user if invitation.invited_by else None
    # Addresses within a name are broken up; the address that stands in for a missing name is a confirmed one.
    own = inviter and (unlinked(inviter.name, _LONGEST_NAME) if inviter.name else inviter.email)
    names = {
        "organization": sender,
        "person": sender if own is None else own,
        "role": invitation.get_role_display(),
        "day": date_format(invitation.expires_at),
    }
    paragraphs = [
        _("%(person)s invites you to join %(organization)s on Paraph. Your role will be: %(role)s.") % names,
        invited.url,
        _("The link works until %(day)s. If you did not expect this invitation, you can ignore it.") % names,
    ]
    subject = _("Join %(organization)s") % names
    hand_over(invitation.email, get_language() or "en", subject, "\n\n".join(paragraphs), invited.url)
