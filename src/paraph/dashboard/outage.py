"""The page that a member sees while the database is away, or while no place is free for expensive work."""

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from paraph.dashboard.errors import unavailable
from paraph.database.outage import is_outage, outage_sentence
from paraph.kernel.places import NoPlaceError

log = logging.getLogger("paraph.dashboard")


class DashboardOutage:
    """The middleware: a page instead of a crash. What a page loads by itself gets JSON, from
    :class:`paraph.server.middleware.Outage`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            return self._get_response(request)
        except Exception as exception:  # of what reads the account before any view
            answer = _page(exception)
            if answer is None:
                raise
            return answer

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return _page(exception) if "text/html" in request.headers.get("Accept", "") else None


def _page(exception: Exception) -> HttpResponse | None:
    if isinstance(exception, NoPlaceError):
        return unavailable(_("The service is too busy for this at the moment. Try again in a few seconds."))
    if not is_outage(exception):
        return None
    log.error("%s", outage_sentence(exception))
    return unavailable(_("The service is not available at the moment. Try again in a few seconds."))
