"""One log line per request, and the id that joins it to everything else logged on the way."""

import logging
import time
from collections.abc import Callable

import structlog
from django.http import HttpRequest, HttpResponse

from paraph.kernel import tokens
from paraph.measures.figures import count_request

log = logging.getLogger("paraph.request")


class RequestLog:
    """Gives each request an id (also the answer's ``X-Request-Id``). The line names the route, never the path or
    the query: signing tokens and presigned signatures stand there."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = tokens.random_hex(8)
        structlog.contextvars.clear_contextvars()
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            return self._answer(request, request_id)

    def _answer(self, request: HttpRequest, request_id: str) -> HttpResponse:
        began = time.perf_counter()
        response = self._get_response(request)
        response.headers["X-Request-Id"] = request_id
        match = request.resolver_match
        seconds = time.perf_counter() - began
        count_request(request.method, match.route if match else "", response.status_code, seconds)
        facts = {
            "method": request.method,
            "route": match.route if match else None,
            "status": response.status_code,
            "milliseconds": round(seconds * 1000, 1),
            "request_id": request_id,
        }
        level = _level(request, response)
        if log.isEnabledFor(level):  # a record without the place in the code, which nobody needs, and which costs most
            log.handle(log.makeRecord(log.name, level, "", 0, facts, (), None))
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> None:  # noqa: ARG002  Django's form
        """Logs what Django is about to turn into a plain 500."""
        log.error("unhandled", exc_info=exception)


def _level(request: HttpRequest, response: HttpResponse) -> int:
    if response.status_code >= 500:
        return logging.ERROR
    return logging.DEBUG if request.path in ("/healthz", "/readyz", "/metrics") else logging.INFO
