"""The WSGI application that granian serves."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "paraph.config.settings")
_django = get_wsgi_application()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Django's, with a body that is already there handed over in one piece: granian takes such a list at once, and
    comes back for each piece of anything else."""
    response = _django(environ, start_response)
    if type(response) is not HttpResponse:
        return response
    body = [response.content]
    response.close()
    return body
