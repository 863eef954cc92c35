"""The way into the API. Operations are declared at the functions that answer them; every call is identified and
counted before it is answered (rules 5.1 and 8), and every refusal has the one envelope.

The precedence of refusals, first match wins:

0.  ``unavailable`` with ``Retry-After`` while the database is away, as nobody can tell whose key it is; later,
    while the object store is away.
1.  ``invalid_api_key``: no key, a malformed, unknown or revoked one. After 60 of these in a minute from one address:
    ``rate_limited``.
2.  ``rate_limited``: the calls of the organization in the environment exceed a window.
3.  ``payment_required``: a production key of an organization on the Free plan; then ``forbidden``: any key of an
    organization that is suspended.
4.  ``not_found`` for an unknown route, then ``method_not_allowed``.
5.  ``sandbox_only`` for a sandbox act with a production key, ``production_only`` for a draft with a sandbox key; then
    ``not_found`` for a resource beyond the caller's organization or environment.
6.  ``validation_error`` for a malformed Idempotency-Key and ``idempotency_key_in_use`` for one whose first call is not
    answered yet; then ``unsupported_media_type``, ``insufficient_storage`` for an upload without room,
    ``payload_too_large``, ``request_timeout`` for a body that is cut off, and ``validation_error`` for one that
    is not readable (broken multipart, invalid UTF-8, malformed or too deeply nested JSON, wrong root key).
7.  ``idempotency_key_reused`` for an Idempotency-Key that was used with other content, ``gone`` where what it created
    was deleted.
8.  Creation: ``initials_not_available_on_plan``, ``forbidden`` (``sms``, ``branding_profile_id``),
    ``identity_declaration_required``, each if the field that it is about is well-formed, whatever else is wrong.
    Events: ``cursor_expired``, after everything that is wrong with the query. Sandbox acts: ``decline_not_allowed``,
    ``already_signed``, ``expired``, ``not_your_turn``, ``conflict``.
9.  ``unavailable`` with ``Retry-After`` where expensive work finds no place in time, or no process is free to read an
    upload or the tags of a document.
10. ``validation_error`` with every problem of the payload in one message.
11. ``conflict`` where the state of a resource does not allow what is asked for, ``rate_limited`` with ``Retry-After``
    for a reminder within 24 hours of another.
12. ``internal_error`` with an id that the log has too.
"""

import inspect
import json
import logging
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import structlog
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.csrf import csrf_exempt
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

from paraph.api.v1.codes import ANY, CODES, TooEarlyError, refused
from paraph.database.outage import is_outage, outage_sentence
from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.kernel.spelling import nearest
from paraph.server.client_address import client_address, guarded_network
from paraph.tenants.admin_log import Actor
from paraph.tenants.limits import (
    BAD_CALLS_PER_MINUTE,
    Calls,
    RateLimit,
    admit,
    allowance,
    count_bad_call,
    minute_of,
    rate_limit,
)
from paraph.tenants.models import ActorKind, Environment
from paraph.tenants.scope import TenantScope, answer_for

log = logging.getLogger("paraph.api")
RETRY_AFTER_SECONDS = 5  # a lack of time has mostly passed by then
_MOST_PARAMETERS = 50  # that are looked at in a query
Function = Callable[..., HttpResponse]
Functions = dict[str, Function]
DocumentPart = dict[str, Any]
Found = TypeVar("Found")


def endpoint(**functions: Function) -> Function:
    """Return a Django view of the functions that answer ``GET``, ``POST`` and so on; ``HEAD`` is answered like ``GET``.
    Without functions it is the view of a route that does not exist, which only callers with a valid key learn."""

    @csrf_exempt  # an API key is no cookie: no page can make a browser send it
    def view(request: HttpRequest, **ids: int) -> HttpResponse:
        response = _respond(request, functions, ids)
        response.headers["Cache-Control"] = "no-store"
        return response

    view.functions = functions  # type: ignore[attr-defined]  # for those who compare the URL map with the document
    return view


def _respond(request: HttpRequest, functions: Functions, ids: dict[str, int]) -> HttpResponse:
    """Return the response to the call, or to what went wrong, in the order of refusals above."""
    function = functions.get("GET" if request.method == "HEAD" else request.method or "")
    status: RateLimitStatus | None = None
    try:
        scope, status = identify(request)
        check(scope, status)
        request.scope = scope  # type: ignore[attr-defined]  # with this, it is an ApiRequest
        if request.GET:
            _refuse_misspelt(request, function.parameters if isinstance(function, Operation) else ())
        response = function(request, **ids) if function else _no_function(request, functions)
    except DomainError as error:
        status = error.status if isinstance(error, RateLimited) else status
        response = refusal(error)
    except Exception as error:  # noqa: BLE001  the envelope holds for faults too; fault() logs them
        response = fault(error)
    if status:
        otherwise = int(response.headers.get("Retry-After", 0))  # for another reason than the limit
        response.headers["Retry-After"] = str(max(status.retry_after, otherwise))
        response.headers["X-RateLimit-Limit"] = str(status.limit)
        response.headers["X-RateLimit-Remaining"] = str(status.remaining)
        response.headers["X-RateLimit-Reset"] = str(status.reset)
    if response.status_code == 401:
        response.headers["WWW-Authenticate"] = "ApiKey"
    return response


def _refuse_misspelt(request: HttpRequest, known: Sequence[str]) -> None:
    sentence = _("There is no parameter %(given)s; did you mean %(name)s?")
    meant = {given: nearest(given, known) for given in islice(request.GET, _MOST_PARAMETERS) if given not in known}
    told = [sentence % {"given": given, "name": name} for given, name in meant.items() if name]
    if told:
        raise DomainError("validation_error", " ".join(told))


def _no_function(request: HttpRequest, functions: Functions) -> HttpResponse:
    if not functions:
        raise DomainError("not_found", _("There is no such route."))
    allowed = ", ".join(sorted(functions))
    message = _("This route does not answer %(method)s, only %(allowed)s.")
    facts = {"method": request.method, "allowed": allowed}
    response = refusal(DomainError("method_not_allowed", message % facts))
    response.headers["Allow"] = allowed
    return response


@dataclass(frozen=True)
class Body:
    """``more``: what else the OpenAPI document says of its media type."""

    schema: type[BaseModel] | DocumentPart
    description: str
    required: bool = True
    media: str = "application/json"
    more: DocumentPart | None = None


@dataclass(frozen=True)
class Operation:
    """A function of the API. ``path`` begins after ``/api/v1``. ``answers``: the shape of its answer where it is not
    refused, ``None`` where that has no body; ``answered`` describes the answer."""

    function: Function
    name: str
    method: str
    path: str
    answers: type[BaseModel] | None
    answered: str
    status: int
    accepts: tuple[DocumentPart, ...]
    body: Body | None
    refuses: tuple[str, ...]

    def __call__(self, *call: Any, **ids: int) -> HttpResponse:
        return self.function(*call, **ids)

    @property
    def parameters(self) -> list[str]:
        """The names of the query's parameters."""
        return [each["name"] for each in self.accepts if each["in"] == "query"]

    @property
    def summary(self) -> str:
        """The first line of the function's docstring; what follows is the description."""
        return self._words()[0].rstrip(".")

    @property
    def description(self) -> str:
        return " ".join(self._words()[1].split())

    def _words(self) -> tuple[str, str]:
        summary, _, description = (inspect.getdoc(self.function) or "").partition("\n\n")
        return summary, description


def operation(
    name: str,
    route: str,
    answers: type[BaseModel] | None,
    answered: str,
    *,
    status: int = 200,
    accepts: Iterable[DocumentPart] = (),
    body: Body | None = None,
    refuses: Iterable[str] = (),
) -> Callable[[Function], Operation]:
    """Make a function an operation. ``route``: such as ``GET /documents/{document_id}``. ``accepts``: the parameters of
    query and header; others of the query are ignored unless they look misspelt. ``refuses``: codes, or the names of
    refusals in ``examples.json``, without those that any call may meet and the ``not_found`` of a route with an id."""
    method, path = route.split()
    refused = (*ANY, *refuses, *(["not_found"] if "{" in path else []))

    def declare(function: Function) -> Operation:
        return Operation(function, name, method, path, answers, answered, status, tuple(accepts), body, refused)

    return declare


def query(name: str, description: str, **schema: Any) -> DocumentPart:
    """Return a parameter of the query."""
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema}


KEY: DocumentPart = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A text of your choice, new for each thing to do, such as a UUID. Sent again with the same content "
    "within 24 hours, the call does nothing: it is answered with what the first one made or changed, and the header "
    "`Idempotent-Replayed`. So a call whose answer was lost can be sent again.",
    "schema": {"type": "string", "pattern": "^[!-~]+$", "minLength": 1, "maxLength": 255},
    "example": "6f1a2c1e-9d53-4a7e-8a53-2f6d1f2a7c11",
}


class ApiRequest(HttpRequest):
    """A request that was let in."""

    scope: TenantScope


def actor(request: ApiRequest) -> Actor:
    return Actor(ActorKind.API, request.scope.application_id, ip=client_address(request))


class RateLimitStatus(NamedTuple):
    """The most constraining window: its ceiling, the calls left in it and the Unix time of its reset."""

    limit: int
    remaining: int
    reset: int
    exceeded: bool

    @property
    def retry_after(self) -> int:
        """Seconds to wait before the next allowed call: 0 while calls remain."""
        return 0 if self.remaining else max(1, math.ceil(self.reset - clock.now().timestamp()))


class RateLimited(DomainError):
    def __init__(self, status: RateLimitStatus) -> None:
        seconds = status.retry_after
        message = ngettext(
            "Too many calls: the limit is %(limit)d. Try again in %(seconds)d second.",
            "Too many calls: the limit is %(limit)d. Try again in %(seconds)d seconds.",
            seconds,
        )
        super().__init__("rate_limited", message % {"limit": status.limit, "seconds": seconds})
        self.status = status


def identify(request: HttpRequest) -> tuple[TenantScope, RateLimitStatus]:
    """Return the caller and what is left of their calls; the call is counted.

    Raise ``invalid_api_key``, or ``rate_limited`` for an address that keeps sending bad keys. A valid key passes
    whatever else its address sends: many clients share one.
    """
    admission = admit(request.META.get("HTTP_X_API_KEY", ""))
    if admission is None:
        calls_without_key = count_bad_call(guarded_network(client_address(request)))
        guard = _window(calls_without_key, BAD_CALLS_PER_MINUTE, (minute_of(clock.now()) + 1) * 60)
        if guard.exceeded:
            raise RateLimited(guard)
        raise refused("invalid_api_key")
    scope, calls = admission
    answer_for(scope)
    return scope, rate_limit_status(calls, rate_limit(scope.plan, scope.environment))


def check(scope: TenantScope, status: RateLimitStatus) -> None:
    """Raise ``rate_limited`` beyond the limit, ``payment_required`` for production on the Free plan, and ``forbidden``
    where the organization is suspended."""
    if status.exceeded:
        raise RateLimited(status)
    if scope.environment == Environment.PRODUCTION and not allowance(scope.plan).production:
        raise refused("payment_required")
    if scope.suspended:
        raise DomainError("forbidden", _("The organization is suspended. Ask the operator of this service."))


def rate_limit_status(calls: Calls, limit: RateLimit) -> RateLimitStatus:
    """Return the window that constrains most: the one with the fewest calls left; of two alike, the later to reset."""
    minute = _window(calls.in_minute, limit.per_minute, (calls.minute + 1) * 60)
    hour = _window(calls.in_hour, limit.per_hour, (calls.hour + 1) * 3600)
    return min(minute, hour, key=lambda window: (window.remaining, not window.exceeded, -window.reset))


def _window(calls: int, ceiling: int, reset: int) -> RateLimitStatus:
    return RateLimitStatus(ceiling, max(0, ceiling - calls), reset, calls > ceiling)


def existing(found: Found | None) -> Found:
    """Return what was found, which may be just ``True``. Raise ``not_found`` where nothing was."""
    if not found:
        raise refused("not_found")
    return found


def refusal(error: DomainError) -> HttpResponse:
    """Return the answer to a refusal. A code that is none of the API's is a fault of the service."""
    if error.code not in CODES or error.code == "internal_error":
        return crash()
    if error.code == "unavailable":
        return _unavailable(_("The service is too busy for this at the moment. Try again in a few seconds."))
    response = json_response({"error": {"code": error.code, "message": error.message}}, CODES[error.code].status)
    if error.code == "idempotency_key_in_use":
        response.headers["Retry-After"] = "1"
    if isinstance(error, TooEarlyError):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def fault(error: Exception) -> HttpResponse:
    """Return the answer to an exception that is no refusal: the database or the object store is away, or a fault of
    ours."""
    if not is_outage(error):
        return crash()
    log.error("%s", outage_sentence(error))
    return _unavailable(_("The service is not available at the moment. Try again in a few seconds."))


def crash() -> HttpResponse:
    """Return the answer to the exception being handled, which goes to the log under the same id."""
    incident = structlog.contextvars.get_contextvars().get("request_id") or tokens.random_hex(8)
    log.exception("incident %s", incident)
    message = _("Something went wrong on our side. The incident %(incident)s is in the service's log.")
    error = {"code": "internal_error", "message": message % {"incident": incident}}
    return json_response({"error": error}, 500)


def _unavailable(message: str) -> HttpResponse:
    """Give the same answer whatever the reason, which the log has: callers can only try again."""
    response = json_response({"error": {"code": "unavailable", "message": message}}, CODES["unavailable"].status)
    response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
Content = BaseModel | dict[str, Any]


def json_response(content: Content, status: int = 200) -> HttpResponse:
    """Answer with a shape, without the fields that were left out, or with an error's envelope.

    A lone surrogate, which a client may send and see quoted in a refusal, leaves as its JSON escape: Django's
    JsonResponse and pydantic refuse it.
    """
    if isinstance(content, BaseModel):  # stored parts may be of other types and right all the same
        return json_bytes(content.model_dump_json(exclude_unset=True, warnings=False).encode(), status)
    try:
        return json_bytes(to_json(content), status)
    except PydanticSerializationError:
        return json_bytes(_JSON.encode(content).encode("utf-8", "backslashreplace"), status)


def no_content() -> HttpResponse:
    """Answer a call that is done and has nothing to show."""
    response = HttpResponse(status=204)
    del response.headers["Content-Type"]
    return response


def json_bytes(content: bytes, status: int = 200) -> HttpResponse:
    """Answer with content that is JSON in UTF-8 already."""
    return HttpResponse(content, status=status, content_type="application/json")
