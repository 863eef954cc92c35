"""Middleware of the dashboard, for its own addresses alone: no other door sets a cookie."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.utils import translation
from django.utils.deprecation import MiddlewareMixin
from django.utils.module_loading import import_string

PREFIXES = ("/app/", "/account/", "/invitations/", "/operator")
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


class DashboardMiddleware:
    """Pass requests for the dashboard through ``settings.DASHBOARD_MIDDLEWARE``, the others by it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = self._chain = get_response
        self._view_hooks: list[Callable[..., Any]] = []
        self._exception_hooks: list[Callable[..., Any]] = []
        for name in reversed(settings.DASHBOARD_MIDDLEWARE):
            self._chain = import_string(name)(self._chain)
            if hasattr(self._chain, "process_view"):
                self._view_hooks.insert(0, self._chain.process_view)
            if hasattr(self._chain, "process_exception"):
                self._exception_hooks.append(self._chain.process_exception)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return (self._chain if request.path.startswith(PREFIXES) else self._get_response)(request)

    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponseBase | None:
        if not request.path.startswith(PREFIXES):
            return None
        return next((answer for hook in self._view_hooks if (answer := hook(request, *view))), None)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        if not request.path.startswith(PREFIXES):
            return None
        return next((answer for hook in self._exception_hooks if (answer := hook(request, exception))), None)


class Headers(MiddlewareMixin):
    """Headers of all pages: they load from nowhere else, are framed by nobody, and browsers do not keep them. A view's
    own headers prevail."""

    def process_response(self, _request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        return guarded(response)


def guarded(response: HttpResponseBase) -> HttpResponseBase:
    """Add the headers that the response does not have."""
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    return response


class AccountLanguage:
    """The language that a person chose for their account, else the one that their browser asks for. Stands behind the
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
        elif response.status_code == 200 and _has_errors(response):
            response.status_code = 422
        return response


def _has_errors(response: HttpResponseBase) -> bool:
    content = response.context_data if isinstance(response, TemplateResponse) else None
    form = (content or {}).get("form")
    return bool(form is not None and form.is_bound and form.errors)
