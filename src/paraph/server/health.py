"""``/healthz``: is this process alive? ``/readyz``: may requests be sent to it? For supervisors and load balancers."""

from django.http import HttpRequest, HttpResponse, JsonResponse

from paraph.operations.check.readiness import READINESS
from paraph.server.draining import is_draining
from paraph.server.internal_access import is_insider


def healthz(request: HttpRequest) -> HttpResponse:  # noqa: ARG001  Django's form
    """200, whatever else is down: to start this process again would not mend the database."""
    return HttpResponse("ok\n", content_type="text/plain")


def readyz(request: HttpRequest) -> HttpResponse:
    """Returns 200 or 503 with ``{"ready": …}``. Operators also get ``"checks": {name: "ok" | "warning" | "failed"}``,
    at most a few seconds old."""
    found = READINESS.readiness()
    ready = found.ready and not is_draining()
    told: dict[str, object] = {"ready": ready}
    if is_insider(request):
        told["checks"] = found.parts
    response = JsonResponse(told, status=200 if ready else 503)
    response["Cache-Control"] = "no-store"
    return response
