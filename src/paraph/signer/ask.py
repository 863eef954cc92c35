"""``/sign/{token}/ask``: a form with which signers write to the sender, whatever has become of the request."""

from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
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
from paraph.signer.answers import STATUSES, private
from paraph.signer.authentication import signer_with_turn
from paraph.signer.described import LANG, described
from paraph.signer.notice import notice
from paraph.signer.posted_form import posted_form
from paraph.signer.problems import Problem
from paraph.signer.shell import show
from paraph.words import Words, phrase

_METHODS = ["GET", "HEAD", "POST"]
_KINDS = {  # each with the name of its words
    InquiryKind.QUESTION.value: "ask_question",
    InquiryKind.NOT_ME.value: "ask_not_me",
}
_STILL_OPEN = (SigningEligibility.OPEN, SigningEligibility.NOT_YOUR_TURN)


@dataclass(frozen=True)
class InquiryEntries:
    """What was entered, to be shown again. ``problem``: the name of the words that say why it could not be sent."""

    kind: str = InquiryKind.QUESTION.value
    text: str = ""
    language: str = ""
    problem: str = ""
    status: int = 200
    retry_after: int = 0


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
        return _page(request, signer, InquiryEntries(status=404))
    if request.method != "POST":
        return _page(request, signer, InquiryEntries(), is_sent="sent" in request.GET and signer.inquiries.exists())
    answer = _send(request, signer)
    return answer if isinstance(answer, HttpResponse) else _page(request, signer, answer)


@described("POST /ask", "ask", "Back to the form, which says that it was sent.", "text/html", body=InquiryForm)
def _send(request: HttpRequest, signer: Signer) -> HttpResponse | InquiryEntries:
    """Write to the sender.

    Mails the message to the contact address, with the signer as `Reply-To`, and keeps it: at most three in 24 hours,
    then 429 with `Retry-After`. The request, its audit log and its webhooks know nothing of it.
    """  # what was entered is returned where it could not be sent, or the form was sent to change the language
    try:
        form = posted_form(request)
    except DomainError as refusal:
        return InquiryEntries(problem="failed", status=STATUSES[refusal.code])
    kind = form.get("kind", "")
    entered = InquiryEntries(
        kind=kind if kind in _KINDS else InquiryKind.QUESTION.value,
        text=plain_text(form.get("message", "")),
        language=form.get("lang", ""),
    )
    if "lang" in form:
        return entered
    if not entered.text:
        return replace(entered, problem="ask_missing", status=422)
    if len(entered.text) > LONGEST:
        return replace(entered, problem="ask_too_long", status=422)
    try:
        ask_verb(signer, entered.kind, entered.text)
    except TooManyInquiriesError as refusal:
        return replace(entered, problem="ask_limit", status=429, retry_after=refusal.retry_after)
    asked = {"lang": request.GET["lang"]} if "lang" in request.GET else {}
    return private(HttpResponseRedirect(f"{request.path}?{urlencode({**asked, 'sent': 1})}", status=303))


def _page(request: HttpRequest, signer: Signer, entries: InquiryEntries, *, is_sent: bool = False) -> HttpResponse:
    locale = language.choose(request, signer, entries.language)
    content: dict[str, Any] = {
        "state": "ask",
        "is_sent": is_sent,
        "is_open": signing_eligibility(signer) in _STILL_OPEN,
        "expires_at": signer.request.expires_at,
        "entries": entries,
        "kinds": _KINDS,
        "longest": LONGEST,
        "problem": _problem(entries, language.words(locale)),
    }
    response = show(request, "signer/ask.html", content, signer=signer, locale=locale, status=entries.status)
    if entries.retry_after:
        response["Retry-After"] = str(entries.retry_after)
    return response


def _problem(entries: InquiryEntries, words: Words) -> Problem | None:
    return Problem("message", phrase(words, entries.problem, most=LONGEST)) if entries.problem else None
