"""What every request passes: its line in the log, header names, places for files on their way out, its language,
outages, and the way to the dashboard's own middleware."""

import logging
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import structlog
from django.conf import settings
from django.core.signals import got_request_exception
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.module_loading import import_string

from paraph.database.outage import is_outage, outage_sentence
from paraph.kernel.places import NoPlaceError, sending_file
from paraph.metrics.metrics import count_request
from paraph.server.client_address import client_address, guarded_network
from paraph.server.logs import CALLER, LOGGER, RequestLine

AT_ONCE = 256 * 1024  # bytes that the server takes from the thread without waiting for the client
PROBE = "Paraph_Check"
_UNDERSCORES = "Headers with underscores in their names are refused."
_AWAY = "The service is not available at the moment. Try again in a few seconds."
_GIVEN_ID = re.compile(r"[\w.-]{8,64}", re.ASCII)
_log = logging.getLogger(LOGGER)


class _Middleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)


class RequestLog(_Middleware):
    """Log a line per request, and give it an id, which is also the response's ``X-Request-Id``: the one that the
    request came with, if that is 8 to 64 letters, digits, dots, dashes and underscores. The line names the route, never
    the path or the query, which may hold signing tokens and presigned signatures."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get("X-Request-Id", "")
        request_id = given if _GIVEN_ID.fullmatch(given) else f"{random.getrandbits(64):016x}"  # no secret
        structlog.contextvars.bind_contextvars(request_id=request_id)
        try:
            began = time.perf_counter()
            response = self._get_response(request)
            response.headers["X-Request-Id"] = request_id
            _record(request, response, time.perf_counter() - began, request_id)
        finally:
            structlog.contextvars.unbind_contextvars("request_id", *CALLER)
        return response


@receiver(got_request_exception)
def _log_crash(**_: Any) -> None:
    """Log what Django is about to turn into a plain 500. Refusals such as ``Http404`` do not come here."""
    _log.error("unhandled", exc_info=True)


def _record(request: HttpRequest, response: HttpResponseBase, seconds: float, request_id: str) -> None:
    route, status = request.resolver_match.route if request.resolver_match else None, response.status_code
    count_request(request.method, route or "", status, seconds)
    level = logging.DEBUG if request.path in ("/healthz", "/readyz", "/metrics") else logging.INFO
    level = logging.ERROR if status >= 500 else level
    if _log.isEnabledFor(level):
        caller = structlog.contextvars.get_contextvars()
        line = RequestLine(
            level,
            request_id=request_id,
            method=request.method,
            route=route,
            status=status,
            milliseconds=round(seconds * 1000, 1),
            client=client_address(request),
            **{name: caller.get(name) for name in CALLER},
        )
        _log.handle(line)


class HeaderNames(_Middleware):
    """Refuse a request with the header by which ``paraph check`` finds out whether the proxy in front drops or refuses
    header names with underscores. No client of the service sends such names (docs/decisions/slow-clients.md).

    The server hands over ``X_Forwarded_For`` and ``X-Forwarded-For`` under one name, so that nobody can tell any more
    which of them was sent.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if f"HTTP_{PROBE.upper()}" not in request.META:
            return self._get_response(request)
        error = {"error": {"code": "bad_request", "message": _UNDERSCORES}}
        return JsonResponse(error, status=400, headers={"Cache-Control": "no-store"})


class OutgoingBodies(_Middleware):
    """Bound the files on their way out: a client that reads slowly keeps a thread busy where the proxy does not take
    the file at once, so at most a quarter of the threads send files (docs/decisions/slow-clients.md). A small file
    leaves in one piece; a larger one needs a place, and without one the response is 503."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        if not isinstance(response, StreamingHttpResponse) or response.is_async or request.method == "HEAD":
            return response
        pieces: Iterator[bytes] = iter(response.streaming_content)  # type: ignore[arg-type]  # it is not asynchronous
        if int(response.headers.get("Content-Length", AT_ONCE + 1)) <= AT_ONCE:
            response.streaming_content = [b"".join(pieces)]
            return response
        place = ExitStack()
        try:
            place.enter_context(sending_file(guarded_network(client_address(request))))
        except NoPlaceError as refusal:
            response.close()
            return _unavailable(refusal.message)
        response.streaming_content = _Sending(pieces, place)
        return response


class _Sending:
    """The pieces of a file. Its place is given back when it is closed or collected, as the server never closes it where
    it fails before the first piece."""

    def __init__(self, pieces: Iterator[bytes], place: ExitStack) -> None:
        self._pieces = pieces
        self._place = place

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        return next(self._pieces)

    def close(self) -> None:
        self._place.close()


class Language(_Middleware):
    """Choose the language of a response: the one that ``Accept-Language`` prefers, English without that header. A view
    that chooses another one sets ``Content-Language`` itself.

    Django's LocaleMiddleware looks for languages in paths as well, which the service does not have, and costs as much
    as the rest of a read of the API between the URL map and the database (docs/decisions/one-road.md).
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        language = settings.LANGUAGE_CODE
        if "HTTP_ACCEPT_LANGUAGE" in request.META:
            language = translation.get_language_from_request(request)
        translation.activate(language)
        response = self._get_response(request)
        if "Vary" in response.headers:
            patch_vary_headers(response, ("Accept-Language",))
        else:
            response.headers["Vary"] = "Accept-Language"
        response.headers.setdefault("Content-Language", language)
        return response


class Outage(_Middleware):
    """Answer 503 instead of a crash while the database is away or where no place is free for expensive work. The API
    and the pages of signers and members answer in their own way."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:  # noqa: ARG002  Django's form
        if isinstance(exception, NoPlaceError):
            return _unavailable(exception.message)
        if not is_outage(exception):
            return None
        logging.getLogger("paraph.server").error("%s", outage_sentence(exception))
        return _unavailable(_AWAY)


def _unavailable(message: str) -> JsonResponse:
    headers = {"Cache-Control": "no-store", "Retry-After": "5"}
    return JsonResponse({"error": {"code": "unavailable", "message": message}}, status=503, headers=headers)


class DashboardMiddleware(_Middleware):
    """Pass requests for the dashboard through ``settings.DASHBOARD_MIDDLEWARE``, and all others around it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        super().__init__(get_response)
        self._chain = get_response
        self._view_hooks: list[Callable[..., Any]] = []
        self._exception_hooks: list[Callable[..., Any]] = []
        for name in reversed(settings.DASHBOARD_MIDDLEWARE):
            self._chain = import_string(name)(self._chain)
            if hasattr(self._chain, "process_view"):
                self._view_hooks.insert(0, self._chain.process_view)
            if hasattr(self._chain, "process_exception"):
                self._exception_hooks.append(self._chain.process_exception)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return (self._chain if _is_for_dashboard(request) else self._get_response)(request)

    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponseBase | None:
        if not _is_for_dashboard(request):
            return None
        return next((answer for hook in self._view_hooks if (answer := hook(request, *view))), None)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        if not _is_for_dashboard(request):
            return None
        return next((answer for hook in self._exception_hooks if (answer := hook(request, exception))), None)


def _is_for_dashboard(request: HttpRequest) -> bool:
    return request.path.startswith(settings.DASHBOARD_PREFIXES)
