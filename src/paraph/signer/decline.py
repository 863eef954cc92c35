"""``/sign/{token}/decline``: a page with which signers decline, and ``POST`` with a body of JSON, for pages of
others."""

from typing import Any, Literal

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page
from pydantic import Field

from paraph.flow.signing.decline import decline as decline_verb
from paraph.flow.signing.decline import require_declinable
from paraph.kernel.errors import DomainError
from paraph.server.client_address import origin
from paraph.signature_requests.input_types import LONGEST_REASON
from paraph.signature_requests.marks import Body
from paraph.signature_requests.models import Signer
from paraph.signature_requests.translated_refusal import translated
from paraph.signer import language
from paraph.signer.answers import STATUSES, Problem, private
from paraph.signer.described import LANG, LOCALE, Answer, described
from paraph.signer.endpoints import in_person, posted, posted_form, signer_with_turn
from paraph.signer.notice import notice
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
    return _decline(request, signer) if request.method == "POST" else _form(request, signer)


def _decline(request: HttpRequest, signer: Signer) -> HttpResponse:
    """Send the browser to the signing page (303), which then says that the signer has declined, or show what was
    entered where it could not be taken, or where the form was sent to change the language."""
    try:
        form = posted_form(request)
        reason, chosen = form.get("reason", ""), form.get("lang", "")
        if "lang" in form:
            return _form(request, signer, reason, chosen)
        if not reason.strip():
            return _form(request, signer, "", chosen, problem="decline_reason_missing", status=422)
        decline_verb(signer, reason, origin(request))
    except DomainError as refusal:
        if refusal.code == "validation_error":
            return _form(request, signer, request.POST.get("reason", ""), problem="ask_too_long", status=422)
        if refusal.code not in STATUSES:
            return _form(request, signer, problem="failed", status=500)
    return _back(request)


def _back(request: HttpRequest) -> HttpResponse:
    query = f"?{request.META['QUERY_STRING']}" if request.META.get("QUERY_STRING") else ""
    return private(HttpResponseRedirect(f"{request.path.removesuffix('/decline')}{query}", status=303))


def _form(
    request: HttpRequest, signer: Signer, reason: str = "", chosen: str = "", *, problem: str = "", status: int = 200
) -> HttpResponse:
    """Show the form with the reason that was entered, in the language that was ``chosen`` on it. ``problem``: the name
    of the words that say why it could not be taken."""
    locale = language.choose(request, signer, chosen)
    text = phrase(language.words(locale), problem, most=LONGEST_REASON) if problem else ""
    content: dict[str, Any] = {
        "state": "decline",
        "reason": reason,
        "longest": LONGEST_REASON,
        "problem": Problem("reason", text) if text else None,
        **in_person(request, signer),
    }
    return show(request, "signer/decline.html", content, signer=signer, locale=locale, status=status)
