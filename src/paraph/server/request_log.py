"""One log line per request, and the id that joins it to everything else logged on the way."""

import logging
import random
import time
from collections.abc import Callable
from typing import Any

import structlog
from django.core.signals import got_request_exception
from django.dispatch import receiver
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from paraph.metrics.metrics import count_request
from paraph.server.logs import LOGGER, RequestLine

log = logging.getLogger(LOGGER)


class RequestLog:
    """The middleware. Gives each request an id, which is also the response's ``X-Request-Id``. The line names the
    route, never the path or the query: signing tokens and presigned signatures stand there."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request_id = f"{random.getrandbits(64):016x}"  # no secret: the client is told
        structlog.contextvars.bind_contextvars(request_id=request_id)
        try:
            began = time.perf_counter()
            response = self._get_response(request)
            response.headers["X-Request-Id"] = request_id
            _record(request, response, time.perf_counter() - began, request_id)
        finally:
            structlog.contextvars.unbind_contextvars("request_id")
        return response


@receiver(got_request_exception)
def _log_crash(**_: Any) -> None:
    """Log what Django is about to turn into a plain 500. Refusals that are raised, such as ``Http404``, are none."""
    log.error("unhandled", exc_info=True)


def _record(request: HttpRequest, response: HttpResponseBase, seconds: float, request_id: str) -> None:
    route = request.resolver_match.route if request.resolver_match else None
    count_request(request.method, route or "", response.status_code, seconds)
    level = _level(request, response)
    if log.isEnabledFor(level):
        status = response.status_code
        log.handle(
            RequestLine(
                level, request_id=request_id, method=request.method, route=route, status=status, seconds=seconds
            )
        )


def _level(request: HttpRequest, response: HttpResponseBase) -> int:
    if response.status_code >= 500:
        return logging.ERROR
    return logging.DEBUG if request.path in ("/healthz", "/readyz", "/metrics") else logging.INFO
