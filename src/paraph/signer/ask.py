"""``/sign/{token}/ask``: a form with which signers write to the sender, whatever has become of the request."""

from typing import Any, Literal

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page
from pydantic import Field

from paraph.flow.signing.ask import LONGEST, TooManyInquiriesError, plain_text
from paraph.flow.signing.ask import ask as ask_verb
from paraph.kernel.errors import DomainError
from paraph.signature_requests.marks import Body
from paraph.signature_requests.models import InquiryKind, Signer
from paraph.signature_requests.signing_eligibility import SigningEligibility, signing_eligibility
from paraph.signer import language
from paraph.signer.answers import STATUSES, Problem, back, say_when
from paraph.signer.described import LANG, described
from paraph.signer.endpoints import posted_form, signer_with_turn
from paraph.signer.notice import notice
from paraph.signer.shell import show
from paraph.words import phrase

_METHODS = ["GET", "HEAD", "POST"]
_KINDS = {  # each with the name of its words
    InquiryKind.QUESTION.value: "ask_question",
    InquiryKind.NOT_ME.value: "ask_not_me",
}
_STILL_OPEN = (SigningEligibility.OPEN, SigningEligibility.NOT_YOUR_TURN)


class InquiryForm(Body):
    kind: Literal["question", "not_me"] = Field(description="A question, or a link that came to the wrong person.")
    message: str = Field(description="What the sender will read.", max_length=LONGEST)
    example = ("A question", {"kind": "question", "message": "Which flat is this about?"})


@csrf_exempt  # the secret in the address is all permission there is
@gzip_page
@described("GET /ask", "showAskForm", "The form.", "text/html", query=(LANG,))
def ask(request: HttpRequest, token: str) -> HttpResponse:
    """Open the form to write to the sender.

    For signers in any state, where the organization has a contact address (`paraph organization update ID
    --contact-email ADDRESS`); else 404.
    """
    if request.method not in _METHODS:
        return HttpResponseNotAllowed(_METHODS)
    signer = signer_with_turn(token)
    if signer is None:
        return notice(request, "not_found", status=404)
    if not signer.request.organization.contact_email:
        return _page(request, signer, status=404)
    if request.method == "POST":
        return _send(request, signer)
    return _page(request, signer, is_sent="sent" in request.GET and signer.inquiries.exists())


@described("POST /ask", "ask", "Back to the form, which says that it was sent.", "text/html", body=InquiryForm)
def _send(request: HttpRequest, signer: Signer) -> HttpResponse:
    """Write to the sender.

    Mails the message to the contact address, with the signer as `Reply-To`, and keeps it: at most three in 24 hours,
    then 429 with `Retry-After`. The request, its audit log and its webhooks know nothing of it.
    """
    try:
        form = posted_form(request)
    except DomainError as refusal:
        return _page(request, signer, problem="failed", status=STATUSES[refusal.code])
    kind, text = form.get("kind", ""), plain_text(form.get("message", ""))
    entered = {"kind": kind if kind in _KINDS else InquiryKind.QUESTION.value, "text": text}
    chosen = form.get("lang", "")
    if "lang" in form:  # sent to change the language
        return _page(request, signer, entered, chosen)
    if not text or len(text) > LONGEST:
        return _page(request, signer, entered, chosen, problem="ask_too_long" if text else "ask_missing", status=422)
    try:
        ask_verb(signer, entered["kind"], text)
    except TooManyInquiriesError as refusal:
        return say_when(_page(request, signer, entered, chosen, problem="ask_limit", status=429), refusal)
    return back(request, "sent")


def _page(
    request: HttpRequest,
    signer: Signer,
    entered: dict[str, str] | None = None,
    chosen: str = "",
    *,
    problem: str = "",
    status: int = 200,
    is_sent: bool = False,
) -> HttpResponse:
    """Show the form with what was ``entered``, in the language that was ``chosen`` on it. ``problem``: the name of the
    words that say why it could not be sent."""
    locale = language.choose(request, signer, chosen)
    text = phrase(language.words(locale), problem, most=LONGEST) if problem else ""
    content: dict[str, Any] = {
        "state": "ask",
        "is_sent": is_sent,
        "is_open": signing_eligibility(signer) in _STILL_OPEN,
        "expires_at": signer.request.expires_at,
        "entered": entered or {"kind": InquiryKind.QUESTION.value},
        "kinds": _KINDS,
        "longest": LONGEST,
        "problem": Problem("message", text) if text else None,
    }
    return show(request, "signer/ask.html", content, signer=signer, locale=locale, status=status)
