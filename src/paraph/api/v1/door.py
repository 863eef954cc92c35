"""The one way in: every call under /api/v1 is identified, counted, routed and answered here."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from paraph.api.v1 import auth, errors
from paraph.api.v1.answers import Answer, as_response
from paraph.api.v1.auth import ApiRequest
from paraph.api.v1.openapi import ADDRESS
from paraph.api.v1.ratelimit import RateLimited, RateLimitStatus, headers
from paraph.api.v1.routing import Found, find
from paraph.kernel.errors import DomainError
from paraph.organizations.admission import Prefetch

ROUTE = r"^api/v1(?:/|$)"


def door(request: HttpRequest) -> HttpResponse:
    """Django's way in."""
    return as_response(call(request))


door.csrf_exempt = True  # type: ignore[attr-defined]  # an API key is no cookie: no page can make a browser send it


def call(request: HttpRequest) -> Answer:
    """Answers in the envelope whatever happens; see :mod:`paraph.api.v1.errors` for the order of refusals."""
    status: RateLimitStatus | None = None
    try:
        found = _found(request)
        if found and request.path_info == ADDRESS and request.method == "GET":
            return found.route(request)  # the description of the API, for everybody
        caller, status, prefetched = auth.identify(request, _prefetch(request, found))
        auth.check(caller, status)
        request.caller = caller  # type: ignore[attr-defined]  # with this and the next, it is an ApiRequest
        request.prefetched = prefetched  # type: ignore[attr-defined]
        response = _call(request, found)  # type: ignore[arg-type]  # the same
    except DomainError as error:
        status = error.status if isinstance(error, RateLimited) else status
        response = errors.refusal(error)
    except Exception:  # noqa: BLE001  the envelope holds for crashes too; crash() logs them
        response = errors.crash()
    if status:
        response.headers |= headers(status, at_least=int(response.headers.get("Retry-After", 0)))
    if response.status_code == 401:
        response.headers["WWW-Authenticate"] = "ApiKey"
    response.headers["Cache-Control"] = "no-store"
    return response


def _found(request: HttpRequest) -> Found | None:
    if request.method == "HEAD":
        request.method = "GET"  # the server leaves the body out
    found = find(request.path_info)
    if found:
        request.resolver_match = found.route.match  # which the log names
    return found


def _prefetch(request: HttpRequest, found: Found | None) -> Prefetch | None:
    if found is None:
        return None
    function: Any = found.route.functions.get(request.method or "")
    prefetch = getattr(function, "prefetch", None)
    return prefetch(**found.ids) if prefetch else None


def _call(request: ApiRequest, found: Found | None) -> Answer:
    if found is None:
        raise DomainError("not_found", _("There is no such route."))
    return found.route(request, **found.ids)
