"""One answer to every form: 303 to the next page, or 422 with the form and its errors.

allauth's views answer 302, or 200 with errors.
"""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse


class FormAnswers:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
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
