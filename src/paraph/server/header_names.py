"""Header names with underscores, which no client of the service sends (docs/decisions/slow-clients.md).

The server hands over ``X_Forwarded_For`` and ``X-Forwarded-For`` under one name, and nobody can tell any more which of
them was sent. A proxy in front therefore has to drop or refuse such headers. ``paraph check`` finds out whether it
does, by sending a header that is refused here.
"""

from collections.abc import Callable

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase

PROBE = "Paraph_Check"
_KEY = f"HTTP_{PROBE.upper()}"
_SENTENCE = "Headers with underscores in their names are refused."


class HeaderNames:
    """The middleware that refuses a request with the header of ``paraph check``."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if _KEY not in request.META:
            return self._get_response(request)
        error = {"error": {"code": "bad_request", "message": _SENTENCE}}
        return JsonResponse(error, status=400, headers={"Cache-Control": "no-store"})
