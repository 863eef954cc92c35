"""A signer who is there signs on the member's own device."""

from urllib.parse import urlencode, urlsplit

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from paraph.dashboard.decorators import actor, member_page, reauthenticated, see_other
from paraph.dashboard.requests.own_request import own_request
from paraph.dashboard.requests.request_page import request_page
from paraph.flow.signing.show_link import show_signing_link
from paraph.kernel.errors import DomainError
from paraph.signature_requests.tickets import in_person_ticket
from paraph.tenants.models import Member
from paraph.tenants.rights import Right


@member_page(Right.SEND)
@require_POST
@reauthenticated
def sign_here(request: HttpRequest, member: Member, request_id: int, signer_id: int) -> HttpResponse:
    """Lead to the signing page, which says whose turn it is. That it was shown stands in the activity log."""
    scope, found = own_request(member, request_id)
    try:
        link = show_signing_link(scope, actor(request, member), request_id, signer_id)
    except DomainError as refusal:
        return request_page(request, member, request_id, refusal.message)
    signer = found.signers.get(pk=signer_id)
    return see_other(f"{urlsplit(link).path}?{urlencode({'in_person': in_person_ticket(signer, member.pk)})}")
