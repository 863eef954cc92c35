"""The endpoints of a signing page, from the request to the verb and back: who calls, what is posted, how often."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.request import RawPostDataException, UnreadablePostError
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.views.decorators.csrf import csrf_exempt

from paraph.kernel import bounded_json, tokens
from paraph.kernel.errors import DomainError
from paraph.kernel.rates import MinuteRate
from paraph.server.bodies import read_body
from paraph.signature_requests.links import is_from_dashboard, member_of, signer_of
from paraph.signature_requests.localized import translated
from paraph.signature_requests.marks import MOST_POINTS
from paraph.signature_requests.models import Signer
from paraph.signature_requests.signing import SigningEligibility, require_open, signing_eligibility
from paraph.signer import answers, language
from paraph.signer.described import Answer
from paraph.tenants.scope import answer_for

MOST_PARTS = 2 * (2 * MOST_POINTS + 2) + 1  # two drawings, each point in a stroke of its own
MOST_COMMAS = 2 * (2 * MOST_POINTS) + 100  # two for each point, however many strokes there are; some for all else
KEPT_SECONDS = 900
READING = ["GET", "HEAD"]

_LARGEST = 512 * 1024  # bytes

STAMPS = MinuteRate(60)  # of one signer, in each web process: setting a stamp takes up to 20 ms of a processor
ENTRIES = MinuteRate(240)  # values that are kept, each with a picture
VALUES = MinuteRate(240)  # pages with values: each entry changes one

Reader = Callable[..., Answer | HttpResponseBase | bytes]
Endpoint = Callable[[HttpRequest, Signer, dict[str, Any]], Answer | HttpResponse]


def posted(endpoint: Endpoint) -> Callable[..., HttpResponse]:
    """Return a view for ``POST /sign/{token}/…``: JSON in, JSON out, every refusal in the one envelope.

    Exempt from the CSRF cookie: there is no session to ride on. The secret in the address is all permission there
    is, and only JSON is read, which no form of another site can send.
    """

    @csrf_exempt
    def view(request: HttpRequest, token: str) -> HttpResponse:
        signer, body = None, dict[str, Any]()

        def locale() -> str:
            return language.of_answer(request, signer, body.get("locale"))

        try:
            if request.method != "POST":
                return _not_allowed(request, "POST")
            signer = found(token)
            body = _body(request)
            content = endpoint(request, signer, body)
            return content if isinstance(content, HttpResponse) else answers.answer(content, locale=locale())
        except Exception as error:  # noqa: BLE001  the envelope holds for faults too; fault() logs them
            return answers.fault(error, locale(), signer)

    return view


def got(*, kept: int = 0, media: str = "", allowed: str = "GET") -> Callable[[Reader], Callable[..., HttpResponseBase]]:
    """Return a view for ``GET /sign/{token}/…``, with every refusal in the one envelope. ``kept``: for how many seconds
    browsers may keep the answer. ``media``: its type where it is bytes. ``allowed``: the methods of the whole route."""

    def decorated(reader: Reader) -> Callable[..., HttpResponseBase]:
        def view(request: HttpRequest, token: str, **place: Any) -> HttpResponseBase:
            signer = None
            try:
                if request.method not in READING:
                    return _not_allowed(request, allowed)
                signer = found(token)
                content = reader(request, signer, **place)
            except DomainError as error:
                return answers.refusal(error, language.of_answer(request), signer)
            if isinstance(content, bytes):
                content = answers.private(HttpResponse(content, content_type=media))
            response = answers.answer(content) if isinstance(content, Answer) else content
            return _kept(request, response, kept) if kept else response

        return view

    return decorated


def _kept(request: HttpRequest, response: HttpResponseBase, seconds: int) -> HttpResponseBase:
    """Let the browser keep an answer, and then ask whether it is still the same; where its address changes with the
    answer, it need not even ask."""
    assert isinstance(response, HttpResponse)
    fixed = ", immutable" if "v" in request.GET else ""
    response["Cache-Control"] = f"private, max-age={seconds}{fixed}"
    response["ETag"] = f'"{tokens.sha256(response.content).hex()[:32]}"'
    return get_conditional_response(request, response["ETag"], response=response) or response


def found(token: str) -> Signer:
    """Return the signer as :func:`signer_with_turn` does. Raise ``DomainError`` ``not_found`` for an unknown token."""
    signer = signer_with_turn(token)
    if signer is None:
        raise translated("not_found", "link_unknown")
    return signer


def signer_with_turn(token: str) -> Signer | None:
    """Return the signer, None for an unknown token. Expensive work is then done on behalf of the organization."""
    signer = signer_of(token)
    if signer:
        answer_for(signer.request)
    return signer


def require_reader(signer: Signer) -> None:
    """Raise ``DomainError`` as :func:`require_open` does, but let those read whose turn is still to come."""
    if signing_eligibility(signer) is not SigningEligibility.NOT_YOUR_TURN:
        require_open(signer)


def in_person(request: HttpRequest, signer: Signer) -> dict[str, str]:
    """Return ``in_person``, the ticket of a page that a member opened on their own device for a signer who is there,
    which all pages that follow keep; {} for others."""
    ticket = request.GET.get("in_person", "")
    return {"in_person": ticket} if ticket and member_of(signer, ticket) else {}


def from_dashboard(request: HttpRequest, signer: Signer) -> dict[str, str]:
    """Return ``dashboard``, the ticket of a member who came from the dashboard to sign, and ``request_address``, to
    which they go back; {} for others."""
    ticket = request.GET.get("dashboard", "")
    if not ticket or not is_from_dashboard(signer, ticket):
        return {}
    of = signer.request
    return {"dashboard": ticket, "request_address": f"/app/{of.organization_id}/requests/{of.pk}"}


def count(rate: MinuteRate, signer: Signer) -> None:
    """Count a call of the signer. Raise ``DomainError("rate_limited", …)`` beyond the rate."""
    if seconds := rate.count(signer.pk):
        raise DomainError("rate_limited", f"Too many pictures were drawn; try again in {seconds} seconds.", seconds)


def posted_form(request: HttpRequest) -> QueryDict:
    """Return a form that a browser sends to a page, without scripts. Raise ``DomainError``: ``validation_error`` for an
    unreadable form and one of another site, ``payload_too_large``.

    A form of another site is recognized by what every browser says of where a request comes from: no site can guess the
    address, but one that was told it must not do anything in the signer's name.
    """
    if request.headers.get("Sec-Fetch-Site") == "cross-site":
        raise DomainError("validation_error", "The form was sent from another site.")
    if int(request.META.get("CONTENT_LENGTH") or 0) > _LARGEST:
        raise DomainError("payload_too_large", f"The form is larger than the limit of {_LARGEST // 1024} KiB.")
    try:
        return request.POST
    except (UnreadablePostError, RawPostDataException) as error:
        raise DomainError("validation_error", "The form is not readable.") from error


def _body(request: HttpRequest) -> dict[str, Any]:
    if request.content_type != "application/json":
        raise translated("unsupported_media_type", "body_json")
    raw = read_body(request, _LARGEST)
    if raw is None:
        raise translated("payload_too_large", "body_large", limit=f"{_LARGEST // 1024} KiB")
    try:
        content = bounded_json.loads(raw, MOST_PARTS, comma_limit=MOST_COMMAS)
    except bounded_json.TooManyError as error:
        raise translated("validation_error", "body_parts", points=MOST_POINTS) from error
    except ValueError as error:
        raise translated("validation_error", "body_broken") from error
    if not isinstance(content, dict):
        raise translated("validation_error", "body_object")
    return content


def _not_allowed(request: HttpRequest, allowed: str) -> HttpResponse:
    refusal = translated("method_not_allowed", "method", allowed=allowed, method=request.method)
    response = answers.refusal(refusal, language.of_answer(request))
    response["Allow"] = allowed
    return response
