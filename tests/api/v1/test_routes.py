"""Every operation has one route, by numbers, and the log names routes as the URL map does."""

import logging
from typing import Any

import pytest
from django.urls import Resolver404, resolve

from paraph.api.v1.operations import OPERATIONS
from paraph.config.urls import urlpatterns
from tests.api.v1 import contract
from tests.api.v1.api_clients import ApiClient

API = {str(pattern.pattern): pattern.callback for pattern in urlpatterns if str(pattern.pattern).startswith("api/v1/")}


def test_every_operation_has_one_route_and_every_route_is_documented() -> None:
    documented = {
        f"{path.removeprefix('/')}".replace("{", "<int:").replace("}", ">"): {method.upper() for method in methods}
        for path, methods in contract.content()["paths"].items()
    }
    assert {route: set(getattr(view, "functions", ())) for route, view in API.items()} == documented | {
        "api/v1/openapi.json": set()
    }
    assert sum(map(len, documented.values())) == len(OPERATIONS) == len({each.name for each in OPERATIONS})


@pytest.mark.parametrize("path", ["/api/v1/documents/7", "/api/v1/documents/007"])
def test_ids_are_numbers(path: str) -> None:
    assert resolve(path).kwargs == {"document_id": 7}


@pytest.mark.parametrize("path", ["/api/v10", "/api", "/api/v1x/health"])
def test_what_only_looks_like_the_api_is_not_answered_by_it(path: str) -> None:
    with pytest.raises(Resolver404):
        resolve(path)


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/documents/7", "api/v1/documents/<int:document_id>"),
        ("/signature_requests/7/audit_logs", "api/v1/signature_requests/<int:signature_request_id>/audit_logs"),
        ("/documents/x", "^api/v1(?:/|$)"),
    ],
)
def test_the_log_names_the_route(owner: ApiClient, caplog: pytest.LogCaptureFixture, path: str, route: str) -> None:
    with caplog.at_level(logging.INFO, "paraph.request"):
        response = owner.get(path)
    line: Any = caplog.records[-1]
    assert (line.route, line.method, line.status) == (route, "GET", response.status_code)
