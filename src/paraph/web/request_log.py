"""One log line per request, and the id that joins it to everything else logged on the way."""

import logging
import time
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

import structlog
from django.http import HttpRequest

from paraph.kernel import tokens
from paraph.measures.figures import count_request

log = logging.getLogger("paraph.request")

_FORM = log.makeRecord(log.name, logging.INFO, "", 0, {}, (), None).__dict__ | {"thread": None, "process": None}


class _Response(Protocol):
    """Django's, or the API's own."""

    status_code: int

    @property
    def headers(self) -> Any: ...


R = TypeVar("R", bound=_Response)


class RequestLog(Generic[R]):
    """Gives each request an id (also the answer's ``X-Request-Id``). The line names the route, never the path or
    the query: signing tokens and presigned signatures stand there."""

    def __init__(self, get_response: Callable[[HttpRequest], R]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> R:
        request_id = tokens.random_hex(8)
        structlog.contextvars.bind_contextvars(request_id=request_id)
        try:
            return self._answer(request, request_id)
        finally:
            structlog.contextvars.unbind_contextvars("request_id")

    def _answer(self, request: HttpRequest, request_id: str) -> R:
        began = time.perf_counter()
        response = self._get_response(request)
        response.headers["X-Request-Id"] = request_id
        match = request.resolver_match
        seconds = time.perf_counter() - began
        count_request(request.method, match.route if match else "", response.status_code, seconds)
        level = _level(request, response)
        if log.isEnabledFor(level):
            facts = {
                "method": request.method,
                "route": match.route if match else None,
                "status": response.status_code,
                "milliseconds": round(seconds * 1000, 1),
                "request_id": request_id,
            }
            log.handle(_record(level, facts))
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> None:  # noqa: ARG002  Django's form
        """Logs what Django is about to turn into a plain 500."""
        log.error("unhandled", exc_info=exception)


def _record(level: int, facts: dict[str, Any]) -> logging.LogRecord:
    """Without the place in the code, the thread and the process, which nobody needs, and which cost most."""
    record = logging.LogRecord.__new__(logging.LogRecord)
    record.__dict__.update(_FORM, levelno=level, levelname=logging.getLevelName(level), msg=facts, created=time.time())
    return record


def _level(request: HttpRequest, response: _Response) -> int:
    if response.status_code >= 500:
        return logging.ERROR
    return logging.DEBUG if request.path in ("/healthz", "/readyz", "/metrics") else logging.INFO
