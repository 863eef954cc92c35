"""The one way in: every call under /api/v1 is identified, counted, routed and answered here."""

from functools import cache

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import URLResolver
from django.urls.resolvers import RegexPattern
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from paraph.api.v1 import auth, errors
from paraph.api.v1.auth import ApiRequest
from paraph.api.v1.openapi import ADDRESS, document
from paraph.api.v1.ratelimit import RateLimited, Standing, write_headers
from paraph.api.v1.routes import api
from paraph.kernel.errors import DomainError


@csrf_exempt  # an API key is no cookie: no page can make a browser send it
def door(request: HttpRequest) -> HttpResponse:
    """Answers in the envelope whatever happens; see :mod:`paraph.api.v1.errors` for the order of refusals."""
    standing: Standing | None = None
    try:
        if request.path_info == ADDRESS and request.method in ("GET", "HEAD"):
            return HttpResponse(document(), content_type="application/json")
        caller, standing = auth.identify(request)
        auth.check(caller, standing)
        request.caller = caller  # type: ignore[attr-defined]  # this is what makes it an ApiRequest
        response = _route(request)  # type: ignore[arg-type]  # the same
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


def _route(request: ApiRequest) -> HttpResponse:
    if request.method == "HEAD":
        request.method = "GET"  # the server leaves the body out
    try:
        request.resolver_match = match = _routes().resolve(request.path_info)  # which the log names
        response: HttpResponse = match.func(request, *match.args, **match.kwargs)
    except Http404:  # the resolver's, or that of the framework's own pages, which are switched off
        raise DomainError("not_found", _("There is no such route.")) from None
    if isinstance(response, HttpResponseNotAllowed):
        return _not_allowed(request, response)
    return response


def _not_allowed(request: ApiRequest, refused: HttpResponse) -> HttpResponse:
    message = _("This route does not answer %(method)s, only %(allowed)s.")
    facts = {"method": request.method, "allowed": refused["Allow"]}
    response = errors.refusal(DomainError("method_not_allowed", message % facts))
    response["Allow"] = refused["Allow"]
    return response


@cache
def _routes() -> URLResolver:
    patterns, _app, _namespace = api.urls
    return URLResolver(RegexPattern(r"^/api/v1/"), patterns)
