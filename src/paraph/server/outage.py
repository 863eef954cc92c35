"""What is answered while the database is away, and where no place is free for expensive work, outside of the API and
the signing pages, which say it in their own way."""

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase

from paraph.database.outage import is_outage, outage_sentence
from paraph.kernel.places import NoPlaceError

log = logging.getLogger("paraph.server")

_MESSAGE = "The service is not available at the moment. Try again in a few seconds."
_HEADERS = {"Cache-Control": "no-store", "Retry-After": "5"}


class Outage:
    """The middleware: 503 in the place of a crash."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:  # noqa: ARG002  Django's form
        if isinstance(exception, NoPlaceError):
            return unavailable(exception.message)
        if not is_outage(exception):
            return None
        log.error("%s", outage_sentence(exception))
        return unavailable(_MESSAGE)


def unavailable(message: str) -> JsonResponse:
    return JsonResponse({"error": {"code": "unavailable", "message": message}}, status=503, headers=_HEADERS)
