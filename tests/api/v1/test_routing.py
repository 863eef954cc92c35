"""Paths are looked up by their words; ids are what is a number of ASCII digits."""

import pytest

from paraph.api.v1.routing import find


@pytest.mark.parametrize(
    ("path", "route", "ids"),
    [
        ("/documents", "^/api/v1/documents", {}),
        ("/documents/7", "^/api/v1/documents/<int:document_id>", {"document_id": 7}),
        ("/documents/007", "^/api/v1/documents/<int:document_id>", {"document_id": 7}),
        (
            "/signature_requests/12/audit_logs",
            "^/api/v1/signature_requests/<int:signature_request_id>/audit_logs",
            {"signature_request_id": 12},
        ),
        ("/openapi.json", "^/api/v1/openapi.json", {}),
    ],
)
def test_a_route_and_its_ids(path: str, route: str, ids: dict[str, int]) -> None:
    found = find(f"/api/v1{path}")
    assert found
    assert (found.route.match.route, found.ids) == (route, ids)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/api/v1",
        "/api/v1/documents/",
        "/api/v1/documents/\u0661",
        "/api/v1/documents/\u00b2",
        "/api/v1/documents/+1",
        "/api/v1/documents/1/2",
        "/api/v1/1/documents",
        "/api/v1/signature_requests//audit_logs",
        "/api/v1/documents/" + "1" * 5000,
        "/documents/1",
    ],
)
def test_no_route(path: str) -> None:
    assert find(path) is None
