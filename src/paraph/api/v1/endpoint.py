"""The way into the API: every call is identified and counted before it is answered, and answered in the envelope."""

from collections.abc import Callable, Sequence
from itertools import islice

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from paraph.api.v1 import authentication, problems
from paraph.api.v1.operation import Operation
from paraph.api.v1.ratelimit import RateLimited, RateLimitStatus, headers
from paraph.kernel.errors import DomainError
from paraph.kernel.spelling import nearest

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
    """Return the response to the call, or to what went wrong; see :mod:`paraph.api.v1.problems` for the order of
    refusals."""
    function = functions.get("GET" if request.method == "HEAD" else request.method or "")
    status: RateLimitStatus | None = None
    try:
        scope, status = authentication.identify(request)
        authentication.check(scope, status)
        request.scope = scope  # type: ignore[attr-defined]  # with this, it is an ApiRequest
        if request.GET:
            _refuse_misspelt(request, function.parameters if isinstance(function, Operation) else ())
        response = function(request, **ids) if function else _no_function(request, functions)
    except DomainError as error:
        status = error.status if isinstance(error, RateLimited) else status
        response = problems.refusal(error)
    except Exception as error:  # noqa: BLE001  the envelope holds for faults too; fault() logs them
        response = problems.fault(error)
    if status:
        for name, value in headers(status, at_least=int(response.headers.get("Retry-After", 0))).items():
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
    response = problems.refusal(DomainError("method_not_allowed", message % facts))
    response.headers["Allow"] = allowed
    return response
