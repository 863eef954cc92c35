"""``GET /api/v1/openapi.json``, the one call of the API that wants no key."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from paraph.api.v1.endpoint import endpoint
from paraph.api.v1.openapi.document import document
from paraph.api.v1.responses import json_bytes


@csrf_exempt
def openapi(request: HttpRequest) -> HttpResponse:
    """Return the document, for everybody; other methods are refused as on every route."""
    if request.method not in ("GET", "HEAD"):
        return _refuse(request)
    response = json_bytes(document())
    response.headers["Cache-Control"] = "no-store"
    return response


_refuse = endpoint(GET=openapi)
