"""Which function of the API answers a path, and which ids the path names."""

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from django.http import HttpRequest
from django.urls import ResolverMatch
from django.utils.translation import gettext as _

from paraph.api.v1 import errors
from paraph.api.v1.answers import Answer
from paraph.api.v1.openapi.document import ADDRESS, document
from paraph.api.v1.routes import api
from paraph.kernel.errors import DomainError

_HERE = "/api/v1"
_ID = re.compile(r"\{int:(\w+)\}")  # the one kind of parameter that the paths have
_LONGEST = 4300  # digits that Python reads

Functions = dict[str, Callable[..., Answer]]


class Route:
    """The functions of one path, by method. ``match`` names it, for the log."""

    def __init__(self, template: str, functions: Functions) -> None:
        self.functions = functions
        self.names = _ID.findall(template)
        self.match = ResolverMatch(self, (), {}, route="^" + _ID.sub(r"<int:\1>", template))

    def __call__(self, request: HttpRequest, **ids: int) -> Answer:
        function = self.functions.get(request.method or "")
        if function:
            return function(request, **ids)
        allowed = ", ".join(sorted(self.functions))
        message = _("This route does not answer %(method)s, only %(allowed)s.")
        facts = {"method": request.method, "allowed": allowed}
        response = errors.refusal(DomainError("method_not_allowed", message % facts))
        response.headers["Allow"] = allowed
        return response


class Found(NamedTuple):
    route: Route
    ids: dict[str, int]


def find(path: str) -> Found | None:
    """None where there is no such route."""
    words = path.split("/")
    numbers = [word for word in words if word.isdigit() and word.isascii() and len(word) <= _LONGEST]
    route = _routes().get("/".join(["" if word in numbers else word for word in words]) if numbers else path)
    if route is None or len(route.names) != len(numbers):
        return None
    return Found(route, dict(zip(route.names, map(int, numbers), strict=True)))


@cache
def _routes() -> dict[str, Route]:
    """By path, without the ids. Straight to the functions: they check what they take and answer with bytes, so that
    of the framework only its description of the API is needed."""
    functions: dict[str, Functions] = {ADDRESS: {"GET": _described}}
    for prefix, router in api._routers:
        for rest, view in router.path_operations.items():
            own = functions.setdefault(f"{_HERE}{prefix}{rest}", {})
            own |= {method: each.view_func for each in view.operations for method in each.methods}
    return {_ID.sub("", template): Route(template, of) for template, of in functions.items()}


def _described(_request: HttpRequest) -> Answer:
    return Answer(document())
