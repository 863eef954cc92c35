"""One envelope for everything refused under /api/v1 (rule 7)."""

import json
import logging
import re
from functools import cache

import pytest

from paraph.api.v1 import operations
from paraph.kernel.errors import DomainError
from tests.api.v1.api_clients import ApiClient, api_client, error


@cache
def paths() -> list[tuple[str, str]]:
    """Method and path of every operation, with 1 for every id."""
    from paraph.api.v1.openapi.document import document

    documented = json.loads(document())["paths"]
    return [
        (method.upper(), re.sub(r"\{\w+\}", "1", path.removeprefix("/api/v1")))
        for path, operations in documented.items()
        for method in operations
    ]


def test_every_route_is_walked() -> None:
    assert sorted(paths()) == sorted(
        [
            ("POST", "/documents"),
            ("GET", "/documents"),
            ("GET", "/documents/1"),
            ("POST", "/signature_requests"),
            ("GET", "/signature_requests"),
            ("GET", "/signature_requests/1"),
            ("GET", "/documents/1/tags"),
            ("POST", "/signature_requests/preview"),
            ("POST", "/signature_requests/1/end"),
            ("POST", "/signature_requests/1/signers/1/remind"),
            ("GET", "/signature_requests/1/audit_logs"),
            ("POST", "/templates"),
            ("GET", "/templates"),
            ("GET", "/templates/1"),
            ("DELETE", "/templates/1"),
            ("POST", "/templates/1/signature_requests"),
            ("POST", "/drafts"),
            ("GET", "/drafts/1"),
            ("GET", "/events"),
            ("GET", "/branding_profiles"),
            ("POST", "/sandbox/signature_requests/1/signers/1/sign"),
            ("POST", "/sandbox/signature_requests/1/signers/1/decline"),
            ("POST", "/sandbox/signature_requests/1/expire"),
            ("GET", "/health"),
        ]
    )


@pytest.mark.parametrize(("method", "path"), paths())
def test_no_key_has_the_shape_on_every_route(db: None, method: str, path: str) -> None:
    error(ApiClient(None).send(method, path), 401, "invalid_api_key")


def wrong() -> list[tuple[str, str]]:
    """Method and path of what no operation is."""
    known = {path for _, path in paths()} | {"/openapi.json"}
    methods = ("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
    return [(method, path) for method in methods for path in sorted(known) if (method, path) not in paths()]


@pytest.mark.parametrize("path", sorted({path for _, path in wrong()}))
def test_wrong_method_on_every_route(owner: ApiClient, path: str) -> None:
    known = {method for method, each in paths() if each == path} or {"GET"}
    for method in (method for method, each in wrong() if each == path):
        response = owner.send(method, path)
        assert method in error(response, 405, "method_not_allowed")
        assert response["Allow"] == ", ".join(sorted(known)), method


@pytest.mark.parametrize(
    "path", ["", "/", "/nowhere", "/documents/", "/documents/x", "/documents/-1", "/documents/1/x", "/health/1",
             "/documents/" + "9" * 30, "/documents/" + "9" * 5000,
             "/documents/1/", "//documents", "/1", "/documents/\u0661", "/signature_requests//audit_logs",
             "/signature_requests/1/2", "/signature_requests/audit_logs/1", "/documents/1\n",
             "/signature_requests/" + "9" * 30, f"/signature_requests/{2**63}",
             f"/signature_requests/{2**63}/audit_logs", "/%00", "/%ff", "/documents%2f1x"],
)  # fmt: skip
def test_unknown_routes_and_ids(owner: ApiClient, path: str) -> None:
    error(owner.get(path), 404, "not_found")


def test_head_is_answered_like_get(owner: ApiClient) -> None:
    assert owner.send("HEAD", "/health").status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b" ",
        b"{",
        b"[]",
        b'"signature_request"',
        b"{}",
        b'{"signature_requests": {}}',
        b'{"signature_request": NaN}',
        b'{"signature_request": ' + b"9" * 5000 + b"}",
        b'{"signature_request": "\xff"}',
        b"\xef\xbb\xbf{}",
        "{}".encode("utf-16"),
        b'{"signature_request": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
        b'{"a":' * 100_000,
        b'{"signature_request": null}',
        b'{"signature_request": []}',
    ],
)
def test_unreadable_bodies_are_422(owner: ApiClient, body: bytes) -> None:
    error(owner.send("POST", "/signature_requests", body), 422, "validation_error")


def test_malformed_json_is_told_where(owner: ApiClient) -> None:
    message = error(owner.send("POST", "/signature_requests", b'{"signature_request": }'), 422, "validation_error")
    assert "line 1 column 23" in message


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_wrong_content_type_is_415(owner: ApiClient, content_type: str) -> None:
    response = owner.send("POST", "/signature_requests", b"{}", content_type)
    assert "application/json" in error(response, 415, "unsupported_media_type")
    if content_type != "multipart/form-data":
        response = owner.send("POST", "/documents", b"{}", content_type)
        assert "multipart/form-data" in error(response, 415, "unsupported_media_type")


def test_parameters_of_the_content_type_do_not_matter(owner: ApiClient) -> None:
    body = b'{"signature_request": {}}'
    response = owner.send("POST", "/signature_requests", body, "application/json; charset=utf-8")
    assert "mode: it is required." in error(response, 422, "validation_error")


def test_a_large_json_body_is_413(owner: ApiClient) -> None:
    body = b'{"signature_request": "' + b"x" * (4 * 1024 * 1024) + b'"}'
    message = error(owner.send("POST", "/signature_requests", body), 413, "payload_too_large")
    assert "4 MiB" in message


@pytest.mark.parametrize(
    "fault",
    [
        RuntimeError("the disk is gone"),
        DomainError("configuration", "secret"),
        DomainError("internal_error", "secret"),
    ],
)
def test_a_crash_has_an_id_that_the_log_has_too(
    owner: ApiClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fault: Exception
) -> None:
    def broken(*_: object) -> None:
        raise fault

    monkeypatch.setattr(operations, "json_response", broken)
    with caplog.at_level(logging.ERROR, "paraph.api"):
        response = owner.get("/health")
    message = error(response, 500, "internal_error")
    assert str(fault) not in message and "secret" not in message
    incident = next(record for record in caplog.records if record.name == "paraph.api")
    assert incident.exc_info and incident.exc_info[1] is fault
    assert incident.getMessage().split()[-1] in message
    assert "X-RateLimit-Limit" in response


def test_the_openapi_document_wants_no_key() -> None:
    response = ApiClient(None).get("/openapi.json")
    assert response.status_code == 200
    assert response.json()["openapi"].startswith("3.")


@pytest.mark.parametrize("method, path", [(method, path) for method, path in paths() if method == "POST"])
@pytest.mark.parametrize("levels", [480, 800, 5_000])
def test_a_body_that_is_nested_too_deeply_is_refused_wherever_it_goes(
    method: str, path: str, levels: int, owner: ApiClient
) -> None:
    keys = ("signature_request", "template", "unknown")
    deep = "[" * levels + "]" * levels
    body = "{" + ",".join(f'"{key}": {{"unknown": {deep}}}' for key in keys) + "}"
    client = api_client("pro", "production", owner.organization) if path == "/drafts" else owner
    answer = client.send(method, path, body.encode())
    assert answer.status_code in (404, 415, 422), answer.content
    if answer.status_code == 422 and "deep" not in answer.content.decode():
        assert path == "/documents"
    elif answer.status_code == 422:
        assert error(answer, 422, "validation_error") == "The body is nested more than 64 levels deep."
