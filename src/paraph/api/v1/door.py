"""The one way in: every call under /api/v1 is identified, counted, routed and answered here."""

from collections.abc import Callable
from functools import cache
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import ResolverMatch, URLResolver, path
from django.urls.resolvers import RegexPattern
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from paraph.api.v1 import auth, errors
from paraph.api.v1.auth import ApiRequest
from paraph.api.v1.openapi import ADDRESS, document
from paraph.api.v1.ratelimit import RateLimited, Standing, write_headers
from paraph.api.v1.routes import api
from paraph.kernel.errors import DomainError
from paraph.organizations.admission import Also

ROUTE = r"^api/v1(?:/|$)"
_HERE = "/api/v1/"
_BRACKETS = str.maketrans("{}", "<>")  # the framework's form of a parameter and Django's


@csrf_exempt  # an API key is no cookie: no page can make a browser send it
def door(request: HttpRequest) -> HttpResponse:
    """Answers in the envelope whatever happens; see :mod:`paraph.api.v1.errors` for the order of refusals."""
    standing: Standing | None = None
    try:
        if request.path_info == ADDRESS and request.method in ("GET", "HEAD"):
            return _described(request)
        match = _match(request)
        caller, standing, found = auth.identify(request, _also(request, match))
        auth.check(caller, standing)
        request.caller, request.found = caller, found  # type: ignore[attr-defined]  # what makes it an ApiRequest
        response = _call(request, match)  # type: ignore[arg-type]  # the same
    except DomainError as error:
        standing = error.standing if isinstance(error, RateLimited) else standing
        response = errors.refusal(error)
    except Exception:  # noqa: BLE001  the envelope holds for crashes too; crash() logs them
        response = errors.crash()
    if standing:
        write_headers(response, standing)
    if response.status_code == 401:
        response["WWW-Authenticate"] = "ApiKey"
    response["Cache-Control"] = "no-store"
    return response


def _match(request: HttpRequest) -> ResolverMatch | None:
    if request.method == "HEAD":
        request.method = "GET"  # the server leaves the body out
    try:
        match = _routes().resolve(request.path_info)
    except Http404:
        return None
    request.resolver_match = match  # which the log names
    return match


def _also(request: HttpRequest, match: ResolverMatch | None) -> Also | None:
    if match is None:
        return None
    route: Any = match.func
    reading = getattr(route.methods.get(request.method), "reading", None)
    return reading(**match.kwargs) if reading else None


def _call(request: ApiRequest, match: ResolverMatch | None) -> HttpResponse:
    if match is None:
        raise DomainError("not_found", _("There is no such route."))
    response: HttpResponse = match.func(request, **match.kwargs)
    return response


def _described(_request: HttpRequest) -> HttpResponse:
    return HttpResponse(document(), content_type="application/json")


@cache
def _routes() -> URLResolver:
    """Straight to the functions: they check what they take and answer with bytes, so that of the framework only its
    description of the API is needed."""
    patterns: dict[str, dict[str, Callable[..., HttpResponse]]] = {ADDRESS.removeprefix(_HERE): {"GET": _described}}
    for prefix, router in api._routers:
        for rest, view in router.path_operations.items():
            methods = patterns.setdefault(f"{prefix}{rest}".lstrip("/").translate(_BRACKETS), {})
            methods |= {method: each.view_func for each in view.operations for method in each.methods}
    return URLResolver(RegexPattern(f"^{_HERE}"), [path(route, _Route(of)) for route, of in patterns.items()])


class _Route:
    """The functions of one route, by method."""

    def __init__(self, methods: dict[str, Callable[..., HttpResponse]]) -> None:
        self.methods = methods

    def __call__(self, request: ApiRequest, **values: Any) -> HttpResponse:
        function = self.methods.get(request.method or "")
        if function:
            return function(request, **values)
        allowed = ", ".join(sorted(self.methods))
        message = _("This route does not answer %(method)s, only %(allowed)s.")
        facts = {"method": request.method, "allowed": allowed}
        response = errors.refusal(DomainError("method_not_allowed", message % facts))
        response["Allow"] = allowed
        return response
