"""What members do with a request: remind a signer, end it early, show the link of a signer, sign it themselves or let a
signer sign on their device."""

from urllib.parse import urlencode, urlsplit

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from paraph.dashboard.decorators import actor, member_page, reauthenticated, see_other, show
from paraph.dashboard.requests.pages import own_request
from paraph.dashboard.requests.request_page import request_page
from paraph.flow.ending import end_own_early
from paraph.flow.messages.copies import mails_leave
from paraph.flow.sending.invite import remind, show_signing_link
from paraph.kernel.errors import DomainError
from paraph.signature_requests.signing_eligibility import SigningEligibility, signing_eligibility
from paraph.signature_requests.tickets import in_person_ticket
from paraph.signature_requests.values import LONGEST_REASON
from paraph.tenants.models import Member
from paraph.tenants.rights import Right


class EndEarlyForm(forms.Form):
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=LONGEST_REASON,
        help_text=gettext_lazy(
            "Signers do not see it. Kept permanently in the journal and in webhooks; please don't name people."
        ),
    )


@member_page(Right.SEND)
@require_POST
def remind_signer(request: HttpRequest, member: Member, request_id: int, signer_id: int) -> HttpResponse:
    scope, _found = own_request(member, request_id)
    try:
        reminder = remind(scope, request_id, signer_id, actor(request, member))
    except DomainError as refusal:
        return request_page(request, member, request_id, refusal.message)
    if mails_leave(reminder.signer):
        messages.success(request, _("The invitation is being sent again."))
    else:
        messages.warning(request, _("The reminder is not mailed; the service keeps it."))
    return see_other("request", member.organization_id, request_id)


@member_page(Right.SEND)
def end_early(request: HttpRequest, member: Member, request_id: int) -> HttpResponse:
    scope, found = own_request(member, request_id)
    form = EndEarlyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            end_own_early(scope, actor(request, member), request_id, form.cleaned_data["reason"])
            messages.success(request, _("The request was cancelled. Its links no longer work."))
            return see_other("request", member.organization_id, request_id)
        except DomainError as refusal:
            form.add_error(None, refusal.message)
    content = {"form": form, "found": found}
    return show(
        request,
        "requests/end_early.html",
        content,
        member=member,
        status=422 if form.errors else 200,
        environment=found.environment,
    )


@member_page(Right.SEND)
@require_POST
@reauthenticated
def signing_link(request: HttpRequest, member: Member, request_id: int, signer_id: int) -> HttpResponse:
    """Show the link in this one response, kept by no cache; who asked stands in the activity log."""
    scope, found = own_request(member, request_id)
    try:
        link = show_signing_link(scope, actor(request, member), request_id, signer_id)
    except DomainError as refusal:
        return request_page(request, member, request_id, refusal.message)
    signer = found.signers.get(pk=signer_id)
    content = {"found": found, "signer": signer, "link": link}
    response = show(request, "requests/signing_link.html", content, member=member)
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


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


@member_page(Right.SEND)
@require_POST
def sign_now(request: HttpRequest, member: Member, request_id: int) -> HttpResponse:
    """Lead to the signing page, where a code that is sent to the member's address is asked for as of everybody; to the
    page of the request, if it is not their turn."""
    page = own_signing_page(request, member, request_id)
    return see_other(page or f"/app/{member.organization_id}/requests/{request_id}")


def own_signing_page(request: HttpRequest, member: Member, request_id: int) -> str:
    """Return the path of the signing page of the member who may sign this request now; "" for others. That it was shown
    is noted in the activity log. Raise ``Http404``."""
    asking, found = own_request(member, request_id)
    for signer in found.signers.filter(email__iexact=member.user.email).select_related("request"):
        if signing_eligibility(signer) == SigningEligibility.OPEN:
            return urlsplit(show_signing_link(asking, actor(request, member), found.pk, signer.pk)).path
    return ""
