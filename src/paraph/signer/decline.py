"""``/sign/{token}/decline``: a page with which signers decline, and ``POST`` with a body of JSON, for pages of
others."""

from dataclasses import dataclass
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page
from pydantic import Field

from paraph.flow.signing.decline import decline as decline_verb
from paraph.flow.signing.decline import require_declinable
from paraph.kernel.errors import DomainError
from paraph.server.client_address import origin
from paraph.signature_requests.localized import translated
from paraph.signature_requests.marks import Body
from paraph.signature_requests.models import Signer
from paraph.signature_requests.values import LONGEST_REASON
from paraph.signer import language
from paraph.signer.answers import STATUSES, private
from paraph.signer.authentication import posted, signer_with_turn
from paraph.signer.described import LANG, LOCALE, Answer, described
from paraph.signer.in_person import ticket_of
from paraph.signer.notice import notice
from paraph.signer.posted_form import posted_form
from paraph.signer.problems import Problem
from paraph.signer.shell import show
from paraph.words import phrase

_METHODS = ["GET", "HEAD", "POST"]
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


class DeclineBody(Body):
    reason: str = Field(description="Why, as the sender will read it.", min_length=1, max_length=LONGEST_REASON)
    locale: str | None = Field(None, description=LOCALE)
    example = ("A reason", {"reason": "The rent is wrong."})


class Declined(Answer):
    state: Literal["declined"] = Field(description="What has become of it.")
    example = ("Declined", {"state": "declined"})


@csrf_exempt
def decline(request: HttpRequest, token: str) -> HttpResponse:
    """Tell forms of the page from calls by programs, which alone send anything else."""
    is_call = request.method == "POST" and request.content_type not in _FORMS
    return _call(request, token) if is_call else _page(request, token)


@posted
@described("POST /decline", "decline", "It has ended.", Declined, body=DeclineBody)
def _call(request: HttpRequest, signer: Signer, body: dict[str, Any]) -> Declined:
    """Decline.

    Ends the request for everybody, without a code: it is `expired`, with `ended_early`, `ended_reason` and
    `declined_by`, and the webhook `request.expired` says `declined`, `signer_id` and `reason`. Where the request does
    not have `decline_allowed`, the answer is 403 `decline_not_allowed`; else it is refused as a signature is. The form
    of the page sends the same field as `application/x-www-form-urlencoded` and is led back to the page.
    """
    require_declinable(signer)  # who may not is told so before their body is looked at
    if surplus := sorted(body.keys() - DeclineBody.model_fields):
        raise translated("validation_error", "field_surplus", field=surplus[0][:100])
    reason = body.get("reason", "")
    if not isinstance(reason, str):
        raise translated("validation_error", "field_text", field="reason", most=LONGEST_REASON)
    decline_verb(signer, reason, origin(request))
    return Declined(state="declined")


@dataclass(frozen=True)
class Entered:
    """What was entered, to be shown again. ``problem``: the name of the words that say why it could not be taken."""

    reason: str = ""
    language: str = ""
    problem: str = ""
    status: int = 200


@gzip_page
@described("GET /decline", "showDeclineForm", "The form.", "text/html", query=(LANG,))
def _page(request: HttpRequest, token: str) -> HttpResponse:
    """Open the form to decline.

    For signers whose turn it is, where the request has `decline_allowed`; others are led back to the signing page, and
    where it has not, the answer is 404.
    """
    if request.method not in _METHODS:
        return HttpResponseNotAllowed(_METHODS)
    signer = signer_with_turn(token)
    if signer is None or not signer.request.decline_allowed:
        return notice(request, "not_found", status=404)
    try:
        require_declinable(signer)
    except DomainError:  # the page itself says what there is to do
        return _back(request)
    answer = _sent(request, signer) if request.method == "POST" else Entered()
    return answer if isinstance(answer, HttpResponse) else _form(request, signer, answer)


def _sent(request: HttpRequest, signer: Signer) -> HttpResponse | Entered:
    """Send the browser to the signing page (303), which then says that the signer has declined, or return what was
    entered where it could not be taken, or where the form was sent to change the language."""
    try:
        form = posted_form(request)
        reason, chosen = form.get("reason", ""), form.get("lang", "")
        if "lang" in form:
            return Entered(reason, chosen)
        if not reason.strip():
            return Entered("", chosen, "decline_reason_missing", 422)
        decline_verb(signer, reason, origin(request))
    except DomainError as refusal:
        if refusal.code == "validation_error":
            return Entered(request.POST.get("reason", ""), "", "ask_too_long", 422)
        return _back(request) if refusal.code in STATUSES else Entered(problem="failed", status=500)
    return _back(request)


def _back(request: HttpRequest) -> HttpResponse:
    query = f"?{request.META['QUERY_STRING']}" if request.META.get("QUERY_STRING") else ""
    return private(HttpResponseRedirect(f"{request.path.removesuffix('/decline')}{query}", status=303))


def _form(request: HttpRequest, signer: Signer, entered: Entered) -> HttpResponse:
    locale = language.choose(request, signer, entered.language)
    words = language.words(locale)
    text = phrase(words, entered.problem, most=LONGEST_REASON) if entered.problem else ""
    content: dict[str, Any] = {
        "state": "decline",
        "reason": entered.reason,
        "longest": LONGEST_REASON,
        "problem": Problem("reason", text) if text else None,
        **ticket_of(request, signer),
    }
    return show(request, "signer/decline.html", content, signer=signer, locale=locale, status=entered.status)
