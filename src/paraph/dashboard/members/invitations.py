"""``/app/{o}/members/invitations/{id}/resend`` and ``…/withdraw``."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from paraph.dashboard.decorators import actor, member_page, see_other
from paraph.dashboard.members.invitation_mail import mail_invitation
from paraph.dashboard.members.listing import listing
from paraph.kernel.errors import DomainError
from paraph.messaging.gateways import EMAIL, has_gateway
from paraph.server.client_address import client_address, guarded_network
from paraph.tenants.invitations import resend_invitation, withdraw_invitation
from paraph.tenants.models import Member
from paraph.tenants.rights import Right


@member_page(Right.INVITE)
def resend(request: HttpRequest, member: Member, invitation_id: int) -> HttpResponse:
    if request.method == "POST":
        by, network = actor(request, member), guarded_network(client_address(request))
        try:
            with transaction.atomic():
                sent = resend_invitation(member.organization_id, by, invitation_id, network)
                mail_invitation(sent)
        except DomainError as refusal:
            return listing(request, member, refusal=refusal.message)
        told = {"email": sent.invitation.email}
        if has_gateway(EMAIL):
            sentence = _("The invitation to %(email)s is on its way again; earlier links no longer work.")
            messages.success(request, sentence % told)
        else:
            sentence = _(
                "A new invitation to %(email)s was not mailed; the service keeps it. Earlier links no longer work."
            )
            messages.warning(request, sentence % told)
    return see_other("members", member.organization_id)


@member_page(Right.INVITE)
def withdraw(request: HttpRequest, member: Member, invitation_id: int) -> HttpResponse:
    if request.method == "POST":
        try:
            ended = withdraw_invitation(member.organization_id, actor(request, member), invitation_id)
        except DomainError as refusal:
            return listing(request, member, refusal=refusal.message)
        messages.success(request, _("The invitation to %(email)s was withdrawn.") % {"email": ended.email})
    return see_other("members", member.organization_id)
