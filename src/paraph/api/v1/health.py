"""Whether the service answers (specification 4.10)."""

from django.http import HttpResponse

from paraph import __version__
from paraph.api.v1.auth import ApiRequest
from paraph.api.v1.responses import json_response
from paraph.kernel import clock


def read_health(request: ApiRequest) -> HttpResponse:
    """Tells that the service answers, and which environment the key belongs to."""
    return json_response(
        {
            "status": "ok",
            "environment": request.caller.environment,
            "version": __version__,
            "time": clock.iso(clock.now()),
        }
    )
