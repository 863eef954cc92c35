"""Pages that only tell something, among them the one on which signers ask for their copy again."""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from paraph.flow.messages.leaving import mails_leave
from paraph.flow.messages.limits import TooManyMessagesError
from paraph.flow.messages.mail_copy import mail_copy, may_mail_copy, was_mailed
from paraph.flow.signing.send_otp import masked
from paraph.kernel.errors import DomainError
from paraph.signature_requests import tickets
from paraph.signature_requests.models import Signer
from paraph.signature_requests.signed_documents import documents_of
from paraph.signature_requests.signing_token import token
from paraph.signer.answers import STATUSES, private
from paraph.signer.in_person import ticket_of
from paraph.signer.onward import onward
from paraph.signer.posted_form import posted_form
from paraph.signer.progress import progress
from paraph.signer.shell import show

_STATUSES = {"expired": 410, "locked": 429, "not_found": 404}


def notice(
    request: HttpRequest,
    name: str,
    signer: Signer | None = None,
    *,
    until: datetime | None = None,
    problem: str = "",
    status: int = 0,
) -> HttpResponse:
    """Show a page that only tells something. ``name`` is its state: ``already_signed``, ``expired``, ``locked``,
    ``not_found`` or ``unavailable``. Of a request that a signer has declined, ``expired`` is told in other words.
    ``problem``: the name of the words that say what could not be done there."""
    content: dict[str, Any] = {"state": name, "told": name, "until": until, "problem": problem}
    if signer:
        content |= {
            "expires_at": signer.request.ended_early_at or signer.request.expires_at,
            "signed_at": signer.signed_at,
        }
    if signer and signer.request.declined_by_id:
        content["is_declined"] = True
        if name == "expired":
            content["told"] = "declined" if signer.request.declined_by_id == signer.pk else "request_declined"
    if signer and content["told"] in ("already_signed", "declined"):
        content |= ticket_of(request, signer)
    if name == "already_signed" and signer and "in_person" not in content:
        content |= {"progress": progress(signer), "onward": onward(signer), **_copy(request, signer)}
    return show(request, "signer/notice.html", content, signer=signer, status=status or _STATUSES.get(name, 200))


def _copy(request: HttpRequest, signer: Signer) -> dict[str, Any]:
    """Return what the links to the signer's copy need, for somebody who comes with a ticket, as from the mail at
    completion (:mod:`paraph.signature_requests.tickets`); for others, the address to which such a link can be
    mailed."""
    ticket = request.GET.get("ticket", "")
    if signer.request.files_deleted_at or not tickets.holds(signer, ticket):
        mailed = "mailed" in request.GET and was_mailed(signer)
        offered = masked(signer.email) if may_mail_copy(signer) else ""
        return {"copy_to": offered, "is_mailed": mailed, "mails_leave": mails_leave(signer)}
    return {"ticket": ticket, "token": token(signer), "documents": documents_of(signer)}


def mail_again(request: HttpRequest, signer: Signer) -> HttpResponse:
    """Send the browser back to the address it came from (303), whose page then says that it was mailed; or shows the
    page with why it was not. Any other form of a page from before the signature gets the page alone."""
    try:
        form = posted_form(request)
        if form.get("do") != "copy":
            return notice(request, "already_signed", signer)
        mail_copy(signer)
    except DomainError as refusal:
        status = STATUSES.get(refusal.code, 503)
        response = notice(request, "already_signed", signer, problem=problem_of(refusal), status=status)
        if isinstance(refusal, TooManyMessagesError):
            response["Retry-After"] = str(refusal.retry_after)
        return response
    asked = {"lang": request.GET["lang"]} if "lang" in request.GET else {}
    return private(HttpResponseRedirect(f"{request.path}?{urlencode({**asked, 'mailed': 1})}", status=303))


def problem_of(refusal: DomainError) -> str:
    """Return the name of the words that say why no link to a copy was mailed."""
    if isinstance(refusal, TooManyMessagesError):
        return "copy_limit"
    return "delivery_failed" if refusal.code == "delivery_failed" else "failed"
