"""Requests that wait for the member's own signature, and the way to their signing page."""

from urllib.parse import urlsplit

from django.db.models import prefetch_related_objects
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from paraph.dashboard.decorators import actor, member_page, see_other
from paraph.dashboard.requests.own_request import own_request
from paraph.dashboard.requests.pages import DOCUMENTS
from paraph.flow.sending.invite import show_signing_link
from paraph.signature_requests.models import LARGE, RequestStatus, SignatureRequest, Signer, SignerStatus
from paraph.signature_requests.signing_eligibility import SigningEligibility, signing_eligibility
from paraph.tenants.models import Member
from paraph.tenants.rights import Right
from paraph.tenants.scope import TenantScope, scoped

_LATEST_REQUESTS = 200  # in which their signature is looked for


@member_page(Right.SEND)
@require_POST
def sign_now(request: HttpRequest, member: Member, request_id: int) -> HttpResponse:
    """Lead to the signing page, where a code that is sent to the member's address is asked for as of everybody; to the
    page of the request, if it is not their turn."""
    return see_other(
        own_signing_page(request, member, request_id) or f"/app/{member.organization_id}/requests/{request_id}"
    )


def own_signing_page(request: HttpRequest, member: Member, request_id: int) -> str:
    """Return the path of the signing page of the member who may sign this request now; "" for others. That it was shown
    is noted in the activity log. Raise ``Http404``."""
    asking, found = own_request(member, request_id)
    for signer in found.signers.filter(email__iexact=member.user.email).select_related("request"):
        if signing_eligibility(signer) == SigningEligibility.OPEN:
            return urlsplit(show_signing_link(asking, actor(request, member), found.pk, signer.pk)).path
    return ""


def own_turns(member: Member, asking: TenantScope, most: int) -> list[Signer]:
    """Return the member as the signer of each of the latest requests that they may sign now, the newest first,
    with the names of its documents."""
    pending = scoped(SignatureRequest, asking).filter(status=RequestStatus.PENDING).order_by("-created_at", "-pk")
    latest = list(pending.values_list("pk", flat=True)[:_LATEST_REQUESTS])
    rows = Signer.objects.filter(request_id__in=latest, email__iexact=member.user.email)
    unsigned = rows.exclude(status=SignerStatus.SIGNED).select_related("request").defer(*LARGE)
    newest = unsigned.order_by("-request_id", "order")[: 2 * most]
    turns = [signer for signer in newest if signing_eligibility(signer) == SigningEligibility.OPEN][:most]
    prefetch_related_objects([signer.request for signer in turns], DOCUMENTS)
    return turns
