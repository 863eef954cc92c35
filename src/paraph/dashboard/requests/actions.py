"""What members do with a request: remind a signer, withdraw it, make a draft of it, show the link of a signer, sign it
themselves or let a signer sign on their device."""

from urllib.parse import urlencode, urlsplit

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.dashboard.decorators import actor, done, member_page, refusals_in, scope, see_other, show
from paraph.dashboard.requests.listing import own_request
from paraph.dashboard.requests.request_page import request_page
from paraph.flow.ending import end_own_early
from paraph.flow.messages.copies import mails_leave
from paraph.flow.messages.emails import reminder_subject
from paraph.flow.sending.drafts import duplicate
from paraph.flow.sending.invite import remind, show_signing_link
from paraph.kernel.errors import DomainError
from paraph.signature_requests.links import dashboard_ticket, in_person_ticket
from paraph.signature_requests.models import LONGEST_REMINDER
from paraph.signature_requests.signing import SigningEligibility, signing_eligibility
from paraph.signature_requests.values import LONGEST_REASON
from paraph.tenants.members import Right
from paraph.tenants.models import Member


class EndEarlyForm(forms.Form):
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=LONGEST_REASON,
        required=False,
        help_text=gettext_lazy(
            "Included in the mail, and kept permanently in the journal and in webhooks. Please don't name people."
        ),
    )


class ReminderForm(forms.Form):
    message = forms.CharField(
        label=gettext_lazy("Your message"),
        max_length=LONGEST_REMINDER,
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=gettext_lazy("Only in this reminder, where it replaces the message of the invitation."),
    )


@member_page(Right.SEND)
def remind_signer(request: HttpRequest, member: Member, request_id: int, signer_id: int) -> HttpResponse:
    """Ask for a message of the sender's own, then remind the signer."""
    asking, found = own_request(member, request_id)
    signer = get_object_or_404(found.signers.select_related("request__organization"), pk=signer_id)
    form = ReminderForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            remind(asking, request_id, signer_id, actor(request, member), form.cleaned_data["message"])
            if mails_leave(signer):
                again = _("Reminder sent to %(name)s.") if signer.notified_at else _("Sending to %(name)s again.")
                messages.success(request, again % {"name": signer.full_name})
            else:
                messages.warning(request, _("The reminder was not mailed: there is no mail server."))
            return see_other("request", member.organization_id, request_id)
    content = {"form": form, "found": found, "signer": signer, "subject": reminder_subject(signer)}
    return show(request, "requests/remind.html", content, member=member, environment=found.environment)


@member_page(Right.SEND)
def end_early(request: HttpRequest, member: Member, request_id: int) -> HttpResponse:
    asking, found = own_request(member, request_id)
    form = EndEarlyForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            end_own_early(asking, actor(request, member), request_id, form.cleaned_data["reason"])
            sentence = _("The request was withdrawn. Its links no longer work.")
            return done(request, sentence, "request", member.organization_id, request_id)
    content = {"form": form, "found": found}
    return show(request, "requests/end_early.html", content, member=member, environment=found.environment)


@member_page(Right.SEND, post_only=True)
def duplicate_request(request: HttpRequest, member: Member, request_id: int) -> HttpResponse:
    """Make a draft of a production request, and lead to its review. The dashboard sends nothing in the sandbox."""
    try:
        draft, loses_branding = duplicate(scope(member), request_id, member.user)
    except DomainError as refusal:
        return request_page(request, member, request_id, refusal.message)
    if loses_branding:
        messages.warning(request, _("Its branding profile was deleted; the duplicate has the default branding."))
    return see_other("draft_review", member.organization_id, draft.pk)


@member_page(Right.SEND, post_only=True, fresh=True)
def signing_link(
    request: HttpRequest, member: Member, request_id: int, signer_id: int, *, here: bool = False
) -> HttpResponse:
    """Show the link in this one response, which no cache keeps; ``here``: lead to the signing page, which says whose
    turn it is. The activity log names who asked."""
    asking, found = own_request(member, request_id)
    try:
        link = show_signing_link(asking, actor(request, member), request_id, signer_id)
    except DomainError as refusal:
        return request_page(request, member, request_id, refusal.message)
    signer = found.signers.get(pk=signer_id)
    if here:
        return see_other(f"{urlsplit(link).path}?{urlencode({'in_person': in_person_ticket(signer, member.pk)})}")
    content = {"found": found, "signer": signer, "link": link}
    response = show(request, "requests/signing_link.html", content, member=member)
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


@member_page(Right.SEND, post_only=True)
def sign_now(request: HttpRequest, member: Member, request_id: int) -> HttpResponse:
    """Lead to the signing page, which asks the member, like everybody, for a code that is sent to their address; or to
    the page of the request, if it is not their turn."""
    page = own_signing_page(request, member, request_id)
    return see_other(page) if page else see_other("request", member.organization_id, request_id)


def own_signing_page(request: HttpRequest, member: Member, request_id: int) -> str:
    """Return the address of the member's own signing page, which leads back here; "" where they may not sign this
    request now. The activity log notes that the link was shown. Raise ``Http404`` where there is no such request."""
    asking, found = own_request(member, request_id)
    for signer in found.signers.filter(email__iexact=member.user.email).select_related("request"):
        if signing_eligibility(signer) == SigningEligibility.OPEN:
            link = show_signing_link(asking, actor(request, member), found.pk, signer.pk)
            return f"{urlsplit(link).path}?{urlencode({'dashboard': dashboard_ticket(signer)})}"
    return ""
