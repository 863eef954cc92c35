"""``/healthz``, ``/readyz`` and ``/metrics``: for supervisors, load balancers, Prometheus and operators."""

import mmap
import signal
from ipaddress import ip_address
from types import FrameType
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse

from paraph.kernel import tokens
from paraph.operations.check.outcome import Status
from paraph.operations.check.service_checks import READINESS, SERVING
from paraph.operations.exposition import CONTENT_TYPE, exposition

_FORWARDED = ("X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via")


def has_internal_access(request: HttpRequest) -> bool:
    """Return whether the request has the token of ``PARAPH_METRICS_TOKEN`` (``Authorization: Bearer …``) or, where none
    is set, comes from this machine."""
    token = settings.PARAPH.metrics_token
    if token:
        given = request.headers.get("Authorization", "")
        return tokens.same(given.encode(errors="replace"), f"Bearer {token}".encode())
    # Behind a proxy on this machine every peer is local: a public service needs the token.
    forwarded = any(name in request.headers for name in _FORWARDED)
    return settings.PARAPH.is_local and not forwarded and _is_loopback(request.META.get("REMOTE_ADDR", ""))


def _is_loopback(address: str) -> bool:
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return (getattr(parsed, "ipv4_mapped", None) or parsed).is_loopback


_flag = mmap.mmap(-1, 1)  # shared with the processes that are forked later


def is_draining() -> bool:
    """Return whether this web server is about to end. ``/readyz`` then says 503 while requests are still served, so
    that a load balancer sends the next ones elsewhere before the listener closes."""
    return _flag[0] == 1


def drain_before_end(seconds: int) -> None:
    """Have SIGTERM announce the end of the server first, and end it ``seconds`` later by the previous handler. A second
    SIGTERM ends it at once. To be called in the main thread of the process that gets the signal."""
    end: Any = signal.getsignal(signal.SIGTERM)

    def drain(number: int, frame: FrameType | None) -> None:
        if is_draining():
            end(number, frame)
            return
        _flag[0] = 1
        signal.setitimer(signal.ITIMER_REAL, seconds)

    signal.signal(signal.SIGALRM, lambda _number, frame: end(signal.SIGTERM, frame))
    signal.signal(signal.SIGTERM, drain)


def healthz(request: HttpRequest) -> HttpResponse:  # noqa: ARG001  Django's form
    """Answer 200, whatever else is down: restarting this process would not mend the database. Answer 503 if the process
    is about to end, so that a proxy on the same machine, which asks nothing else, sends no more requests to it."""
    return HttpResponse("ok\n", content_type="text/plain", status=503 if is_draining() else 200)


def readyz(request: HttpRequest) -> HttpResponse:
    """Return 200 or 503 with ``{"ready": …}``: whether this process can answer, whatever fails that all processes
    share, such as the object store. Operators also get ``"checks": {name: "ok" | "warning" | "failed"}``, at most half
    a minute old."""
    found = READINESS.statuses()
    ready = all(found[check.name] != Status.FAILED for check in SERVING) and not is_draining()
    answer: dict[str, object] = {"ready": ready}
    if has_internal_access(request):
        answer["checks"] = found
    response = JsonResponse(answer, status=200 if ready else 503)
    response["Cache-Control"] = "no-store"
    return response


def metrics(request: HttpRequest) -> HttpResponse:
    """Answer 200, or 403 to strangers."""
    if not has_internal_access(request):
        return HttpResponse("PARAPH_METRICS_TOKEN opens this page.\n", status=403, content_type="text/plain")
    response = HttpResponse(exposition(), content_type=CONTENT_TYPE)
    response["Cache-Control"] = "no-store"
    return response
