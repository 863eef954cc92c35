"""``GET /metrics``, for Prometheus on this machine or with the token of the settings."""

from django.http import HttpRequest, HttpResponse

from paraph.operations.exposition import CONTENT_TYPE, exposition
from paraph.server.internal_access import is_insider


def metrics(request: HttpRequest) -> HttpResponse:
    """200, or 403 to strangers."""
    if not is_insider(request):
        return HttpResponse("PARAPH_METRICS_TOKEN opens this page.\n", status=403, content_type="text/plain")
    response = HttpResponse(exposition(), content_type=CONTENT_TYPE)
    response["Cache-Control"] = "no-store"
    return response
