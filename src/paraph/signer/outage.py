"""The page that a signer sees while the database is away, or while no place is free for expensive work."""

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from paraph.database.outage import is_outage, outage_sentence
from paraph.kernel.places import NoPlaceError
from paraph.signer import answers, language
from paraph.signer.answers import RETRY_AFTER_SECONDS
from paraph.signer.notice import notice

log = logging.getLogger("paraph.signer")

_PAGES = ("/sign/", "/confirm/", "/copies/")


class SignerOutage:
    """The middleware: a page in the signer's language instead of a crash, and JSON for pictures and whatever else a
    page loads by itself."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not request.path.startswith(_PAGES) or not (isinstance(exception, NoPlaceError) or is_outage(exception)):
            return None
        if "text/html" not in request.headers.get("Accept", ""):
            locale = language.of_answer(request)
            if isinstance(exception, NoPlaceError):
                return answers.refusal(exception, locale)
            return answers.fault(exception, locale)
        if not isinstance(exception, NoPlaceError):
            log.error("%s", outage_sentence(exception))
        response = notice(request, "unavailable", status=503)
        response["Retry-After"] = str(RETRY_AFTER_SECONDS)
        return response
