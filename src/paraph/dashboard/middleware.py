"""Sessions, accounts and messages, for the addresses of the dashboard alone: no other door sets a cookie."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.module_loading import import_string

PREFIXES = ("/app/", "/account/", "/invitations/")


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
        concerned = request.path.startswith(PREFIXES)
        return self._chain(request) if concerned else self._get_response(request)

    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponseBase | None:
        if not request.path.startswith(PREFIXES):
            return None
        return next((answer for hook in self._view_hooks if (answer := hook(request, *view))), None)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        if not request.path.startswith(PREFIXES):
            return None
        return next((answer for hook in self._exception_hooks if (answer := hook(request, exception))), None)
