"""What signers write instead of signing: to the sender, whatever has become of the request (``/sign/{token}/ask``), and
why they decline (``/sign/{token}/decline``, to which pages that others build ``POST`` a body of JSON)."""

from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from pydantic import Field

from paraph.flow.signing import decline_or_ask as verbs
from paraph.kernel.errors import DomainError
from paraph.server.client_address import origin
from paraph.signature_requests.localized import translated
from paraph.signature_requests.marks import Body
from paraph.signature_requests.models import InquiryKind, Signer
from paraph.signature_requests.signing import SigningEligibility, signing_eligibility
from paraph.signature_requests.values import LONGEST_REASON
from paraph.signer import language
from paraph.signer.answers import STATUSES, Problem, back, go_on, say_when
from paraph.signer.described import LANG, LOCALE, Answer, described
from paraph.signer.endpoints import in_person, posted, posted_form
from paraph.signer.notice import for_signer, notice
from paraph.signer.shell import show
from paraph.words import phrase

_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_KINDS = {  # each with the name of its words
    InquiryKind.QUESTION.value: "ask_question",
    InquiryKind.NOT_ME.value: "ask_not_me",
}
_STILL_OPEN = (SigningEligibility.OPEN, SigningEligibility.NOT_YOUR_TURN)


class InquiryForm(Body):
    kind: Literal["question", "not_me"] = Field(description="A question, or a link that came to the wrong person.")
    message: str = Field(description="What the sender will read.", max_length=verbs.LONGEST)
    example = ("A question", {"kind": "question", "message": "Which flat is this about?"})


@for_signer
@described("GET /ask", "showAskForm", "The form.", "text/html", query=(LANG,))
def ask(request: HttpRequest, signer: Signer) -> HttpResponse:
    """Open the form to write to the sender.

    For signers in any state, where the organization has a contact address (`paraph organization update ID
    --contact-email ADDRESS`); else 404.
    """
    if not signer.request.organization.contact_email:
        return _ask_form(request, signer, status=404)
    if request.method == "POST":
        return _send(request, signer)
    return _ask_form(request, signer, is_sent="sent" in request.GET and signer.inquiries.exists())


@described("POST /ask", "ask", "Back to the form, which says that it was sent.", "text/html", body=InquiryForm)
def _send(request: HttpRequest, signer: Signer) -> HttpResponse:
    """Write to the sender.

    Mails the message to the contact address, with the signer as `Reply-To`, and keeps it: at most three in 24 hours,
    then 429 with `Retry-After`. The request, its audit log and its webhooks know nothing of it.
    """
    try:
        form = posted_form(request)
    except DomainError as refusal:
        return _ask_form(request, signer, problem="failed", status=STATUSES[refusal.code])
    kind, text = form.get("kind", ""), verbs.plain_text(form.get("message", ""))
    entered = {"kind": kind if kind in _KINDS else InquiryKind.QUESTION.value, "text": text}
    chosen = form.get("lang", "")
    if "lang" in form:  # sent to change the language
        return _ask_form(request, signer, entered, chosen)
    if not text or len(text) > verbs.LONGEST:
        problem = "ask_too_long" if text else "ask_missing"
        return _ask_form(request, signer, entered, chosen, problem=problem, status=422)
    try:
        verbs.ask(signer, entered["kind"], text)
    except verbs.TooManyInquiriesError as refusal:
        return say_when(_ask_form(request, signer, entered, chosen, problem="ask_limit", status=429), refusal)
    return back(request, "sent")


def _ask_form(
    request: HttpRequest, signer: Signer, entered: dict[str, str] | None = None, chosen: str = "", **told: Any
) -> HttpResponse:
    """``told``: as for :func:`_form`, and ``is_sent``."""
    content: dict[str, Any] = {
        "is_sent": told.pop("is_sent", False),
        "is_open": signing_eligibility(signer) in _STILL_OPEN,
        "expires_at": signer.request.expires_at,
        "entered": entered or {"kind": InquiryKind.QUESTION.value},
        "kinds": _KINDS,
    }
    return _form(request, signer, content | {"state": "ask"}, chosen, **told)


class DeclineBody(Body):
    reason: str = Field(description="Why, as the sender will read it.", min_length=1, max_length=LONGEST_REASON)
    locale: str | None = Field(None, description=LOCALE)
    example = ("A reason", {"reason": "The rent is wrong."})


class Declined(Answer):
    state: Literal["declined"] = Field(description="What has become of it.")
    example = ("Declined", {"state": "declined"})


@csrf_exempt
def decline(request: HttpRequest, token: str) -> HttpResponse:
    """Tell forms of the page from calls by programs: only programs send another type of body."""
    is_call = request.method == "POST" and request.content_type not in _FORMS
    return _call(request, token) if is_call else _decline_page(request, token)


@posted
@described("POST /decline", "decline", "It has ended.", Declined, body=DeclineBody)
def _call(request: HttpRequest, signer: Signer, body: dict[str, Any]) -> Declined:
    """Decline.

    Ends the request for everybody, without a code: it is `expired`, with `ended_early`, `ended_reason` and
    `declined_by`, and the webhook `request.expired` says `declined`, `signer_id` and `reason`. Where the request does
    not have `decline_allowed`, the answer is 403 `decline_not_allowed`; else it is refused as a signature is. The form
    of the page sends the same field as `application/x-www-form-urlencoded` and is led back to the page.
    """
    verbs.require_declinable(signer)  # who may not decline is told so whatever the body is
    if surplus := sorted(body.keys() - DeclineBody.model_fields):
        raise translated("validation_error", "field_surplus", field=surplus[0][:100])
    reason = body.get("reason", "")
    if not isinstance(reason, str):
        raise translated("validation_error", "field_text", field="reason", most=LONGEST_REASON)
    verbs.decline(signer, reason, origin(request))
    return Declined(state="declined")


@for_signer
@described("GET /decline", "showDeclineForm", "The form.", "text/html", query=(LANG,))
def _decline_page(request: HttpRequest, signer: Signer) -> HttpResponse:
    """Open the form to decline.

    For signers whose turn it is, where the request has `decline_allowed`; others are led back to the signing page, and
    where it has not, the answer is 404.
    """
    if not signer.request.decline_allowed:
        return notice(request, "not_found", status=404)
    try:
        verbs.require_declinable(signer)
    except DomainError:  # the page itself says what there is to do
        return _back(request)
    return _decline(request, signer) if request.method == "POST" else _decline_form(request, signer)


def _decline(request: HttpRequest, signer: Signer) -> HttpResponse:
    """Send the browser to the signing page (303), which then says that the signer has declined, or show what was
    entered where it could not be taken, or where the form was sent to change the language."""
    try:
        form = posted_form(request)
        reason, chosen = form.get("reason", ""), form.get("lang", "")
        if "lang" in form:
            return _decline_form(request, signer, reason, chosen)
        if not reason.strip():
            return _decline_form(request, signer, "", chosen, problem="decline_reason_missing", status=422)
        verbs.decline(signer, reason, origin(request))
    except DomainError as refusal:
        if refusal.code == "validation_error":
            return _decline_form(request, signer, request.POST.get("reason", ""), problem="ask_too_long", status=422)
        if refusal.code not in STATUSES:
            return _decline_form(request, signer, problem="failed", status=500)
    return _back(request)


def _back(request: HttpRequest) -> HttpResponse:
    return go_on(request.get_full_path().replace("/decline", "", 1))


def _decline_form(
    request: HttpRequest, signer: Signer, reason: str = "", chosen: str = "", **told: Any
) -> HttpResponse:
    content = {"state": "decline", "reason": reason, **in_person(request, signer)}
    return _form(request, signer, content, chosen, **told)


_TEXTS = {"ask": ("message", verbs.LONGEST), "decline": ("reason", LONGEST_REASON)}  # with the most characters


def _form(
    request: HttpRequest, signer: Signer, content: dict[str, Any], chosen: str, *, problem: str = "", status: int = 200
) -> HttpResponse:
    """Show a form with what was entered, in the language that was ``chosen`` on it. ``problem``: the name of the words
    that say why it could not be taken, "" for none."""
    element, longest = _TEXTS[content["state"]]
    locale = language.choose(request, signer, chosen)
    text = phrase(language.words(locale), problem, most=longest) if problem else ""
    content |= {"longest": longest, "problem": Problem(element, text) if text else None}
    return show(request, f"signer/{content['state']}.html", content, signer=signer, locale=locale, status=status)
