"""Middleware of the dashboard, for its own addresses alone: no other door sets a cookie; and the pages that stand in
for others, such as "Page not found", which the URL map names for every door without answers of its own."""

import logging
from collections.abc import Callable

import structlog
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils import translation
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _

from paraph.database.outage import is_outage, outage_sentence
from paraph.kernel.places import NoPlaceError

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "DENY",
    # Not no-referrer: browsers would then send "Origin: null" with forms, which the check against forgery refuses.
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Robots-Tag": "noindex",
    "Cache-Control": "no-store, private",
}


class Headers(MiddlewareMixin):
    """Headers of all pages: pages load nothing from elsewhere, nobody frames them, and browsers do not keep them. A
    view's own headers prevail."""

    def process_response(self, _request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        return guarded(response)


def guarded(response: HttpResponseBase) -> HttpResponseBase:
    """Add the headers that the response does not have."""
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    return response


class AccountLanguage:
    """The language that a person chose for their account, else the one that their browser asks for. Runs after the
    middleware that finds the account."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        chosen = request.user.language if request.user.is_authenticated else ""
        if not chosen:
            return self._get_response(request)
        with translation.override(chosen):
            response = self._get_response(request)
        response.headers["Content-Language"] = chosen
        return response


class FormAnswers(MiddlewareMixin):
    """One answer to every form: 303 to the next page, or 422 with the form and its errors. allauth's views answer 302,
    or 200 with errors."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if request.method != "POST":
            return response
        if response.status_code == 302:
            response.status_code = 303
        elif response.status_code == 200 and isinstance(response, TemplateResponse):
            form = (response.context_data or {}).get("form")
            if form is not None and form.is_bound and form.errors:
                response.status_code = 422
        return response


_log = logging.getLogger("paraph.dashboard")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001  Django's form
    return notice(404, _("Page not found"), _("There is nothing at this address, or you are not allowed to see it."))


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001  Django's form
    return notice(403, _("Not allowed"), _("You are not allowed to do this."))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001  Django's form
    return notice(400, _("Not understood"), _("Your browser sent something we could not read."))


def too_many_requests(request: HttpRequest) -> HttpResponse:  # noqa: ARG001  Django's form
    return notice(
        429, _("Too many attempts"), _("To protect accounts, the number of attempts is limited. Wait a few minutes.")
    )


def forged(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001  Django's form
    """Answer a form that comes without the token of the page that it stood on."""
    sentence = _(
        "You logged in or out since it was opened, or cookies are disabled. Go back, reload the page and send it again."
    )
    return notice(403, _("This form has expired"), sentence)


def crashed(request: HttpRequest) -> HttpResponse:  # noqa: ARG001  Django's form
    """Answer a crash with the id under which the service's log has the exception. Reads nothing from the database."""
    incident = structlog.contextvars.get_contextvars().get("request_id", "")
    return notice(500, _("Something went wrong on our side"), _("Try again in a moment; nothing is lost."), incident)


def unavailable(sentence: str) -> HttpResponse:
    """Answer a call that will work again soon, as the sentence says. Reads nothing from the database."""
    response = notice(503, _("Not available at the moment"), sentence)
    response["Retry-After"] = "5"
    return response


def notice(status: int, heading: str, sentence: str, incident: str = "") -> HttpResponse:
    """Return the page. Reads nothing from the database."""
    content = {"heading": heading, "sentence": sentence, "incident": incident}
    response = HttpResponse(render_to_string("dashboard/notice.html", content), status=status)
    guarded(response)
    return response


class DashboardOutage:
    """Middleware that answers an outage with a page instead of a crash. What a page loads by itself gets JSON, from
    :class:`paraph.server.middleware.Outage`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            return self._get_response(request)
        except Exception as exception:  # from middleware that reads the account before any view
            answer = _outage_page(exception)
            if answer is None:
                raise
            return answer

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return _outage_page(exception) if "text/html" in request.headers.get("Accept", "") else None


def _outage_page(exception: Exception) -> HttpResponse | None:
    if isinstance(exception, NoPlaceError):
        return unavailable(_("The service is too busy for this at the moment. Try again in a few seconds."))
    if not is_outage(exception):
        return None
    _log.error("%s", outage_sentence(exception))
    return unavailable(_("The service is not available at the moment. Try again in a few seconds."))
