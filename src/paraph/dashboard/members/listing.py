"""``/app/{o}/members``: members and open invitations. ``POST`` invites."""

from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.dashboard.decorators import View, actor, member_page, reauthenticated, see_other, show
from paraph.dashboard.members.invitation_mail import mail_invitation
from paraph.dashboard.members.rows import invitation_rows, member_rows
from paraph.kernel.errors import DomainError
from paraph.messaging.gateways import EMAIL, has_gateway
from paraph.tenants.invitations import invite
from paraph.tenants.models import Member, Role
from paraph.tenants.rights import Right, grantable, may

_ABOUT_THE_ADDRESS = ("conflict", "validation_error")  # the role is checked before it is handed on
_NEEDS_PROOF = (Role.ADMIN, Role.OWNER)


class InviteForm(forms.Form):
    email = forms.EmailField(
        label=gettext_lazy("E-mail"), max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "off"})
    )
    role = forms.ChoiceField(label=gettext_lazy("Role"))

    def __init__(self, *args: Any, own_role: str, **more: Any) -> None:
        super().__init__(*args, **more)
        choice = self.fields["role"]
        assert isinstance(choice, forms.ChoiceField)
        choice.choices = [(role.value, role.label) for role in grantable(own_role)]
        choice.initial = Role.MEMBER


def members(request: HttpRequest, organization_id: int) -> HttpResponse:
    """Show the members to everybody; take an invitation from whoever may invite."""
    view = _invite if request.method == "POST" else _list
    return view(request, organization_id)


def listing(request: HttpRequest, member: Member, form: InviteForm | None = None, refusal: str = "") -> HttpResponse:
    """Return the page, with an invitation or another act that was refused: 422."""
    may_invite = may(member.role, Right.INVITE)
    content = {
        "rows": member_rows(member),
        "invitations": invitation_rows(member),
        "may_invite": may_invite,
        "form": (form or InviteForm(own_role=member.role)) if may_invite else None,
        "refusal": refusal,
    }
    refused = bool(refusal or (form and form.errors))
    return show(request, "members/listing.html", content, member=member, status=422 if refused else 200)


@member_page(Right.SEE)
def _list(request: HttpRequest, member: Member) -> HttpResponse:
    return listing(request, member)


@member_page(Right.INVITE)
def _invite(request: HttpRequest, member: Member) -> HttpResponse:
    """Invite somebody. Whoever invites an admin or owner proves first who they are, as for a change of role."""
    asked: View = reauthenticated(_taken) if request.POST.get("role") in _NEEDS_PROOF else _taken
    return asked(request, member)


def _taken(request: HttpRequest, member: Member) -> HttpResponse:
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
            told = {"email": made.invitation.email}
            if has_gateway(EMAIL):
                messages.success(request, _("The invitation to %(email)s is on its way.") % told)
            else:
                messages.warning(request, _("The invitation to %(email)s was not mailed; the service keeps it.") % told)
            return see_other("members", member.organization_id)
    return listing(request, member, form)
