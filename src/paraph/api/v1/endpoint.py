"""The way into the API: every call is identified and counted before it is answered, and answered in the one envelope.

The precedence of refusals, first match wins:

0.  ``unavailable`` with ``Retry-After`` while the database is away: nobody knows then whose key it is; later, where
    the object store is.
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

import logging
from collections.abc import Callable, Sequence
from itertools import islice

import structlog
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from paraph.api.v1.authentication import RateLimited, RateLimitStatus, check, identify, rate_headers
from paraph.api.v1.codes import CODES, TooEarlyError
from paraph.api.v1.operation import Operation
from paraph.api.v1.shapes import json_response
from paraph.database.outage import is_outage, outage_sentence
from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.kernel.spelling import nearest

log = logging.getLogger("paraph.api")

RETRY_AFTER_SECONDS = 5  # what is unavailable for lack of time is mostly there again


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
    """Whatever the reason, which the log has: callers can but try again."""
    response = json_response({"error": {"code": "unavailable", "message": message}}, CODES["unavailable"].status)
    response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


_MOST_PARAMETERS = 50  # of a query, that are looked at
Functions = dict[str, Callable[..., HttpResponse]]


def endpoint(**functions: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Return a Django view of the functions that answer ``GET``, ``POST`` and so on; ``HEAD`` is answered like ``GET``.
    With no function it is the view of a route that does not exist, which only a valid key is told."""

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
        for name, value in rate_headers(status, at_least=int(response.headers.get("Retry-After", 0))).items():
            response.headers[name] = value
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
