"""Every route of the API: one envelope for all refusals (rule 7), in the language of the call, one operation, ids
that are numbers, and health (rule 4.10)."""

import ast
import logging
import re
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import Resolver404, resolve

import paraph
from paraph.api.v1 import operations
from paraph.api.v1.operations import OPERATIONS
from paraph.config.urls import urlpatterns
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants.models import Usage
from tests.api.v1 import contract
from tests.api.v1.api_clients import ApiClient, api_client, error, invalid
from tests.dashboard.test_catalogs import LANGUAGES, ROOMS, SOURCE, catalog
from tests.dashboard.test_catalogs import messages as of_the_dashboard


@cache
def paths() -> list[tuple[str, str]]:
    """Method and path of every operation, with 1 for every id."""
    operations = contract.operations()
    return [(method, re.sub(r"\{\w+\}", "1", path.removeprefix("/api/v1"))) for method, path, _ in operations]


def test_no_key_has_the_shape_on_every_route(db: None) -> None:
    for method, path in paths():
        error(ApiClient(None).send(method, path), 401, "invalid_api_key")


def wrong() -> list[tuple[str, str]]:
    """Return method and path of calls that are no operation, on the paths of the API."""
    known = {path for _, path in paths()} | {"/openapi.json"}
    methods = ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
    return [(method, path) for method in methods for path in sorted(known) if (method, path) not in paths()]


def test_wrong_method_on_every_route(db: None) -> None:
    owner = api_client("enterprise", "production")  # which may make so many calls in a minute
    for path in sorted({path for _, path in wrong()}):
        known = {method for method, each in paths() if each == path} or {"GET"}
        for method in (method for method, each in wrong() if each == path):
            response = owner.send(method, path)
            assert method in error(response, 405, "method_not_allowed")
            assert response["Allow"] == ", ".join(sorted(known)), method


UNKNOWN = [
    "", "/", "/nowhere", "/1", "/%00", "/%ff", "/health/1", "//documents", "/documents/", "/documents/1/",
    "/documents/x", "/documents/-1", "/documents/1/x", "/documents/" + "9" * 30, "/documents/" + "9" * 5000,
    "/documents/\u0661", "/documents/1\n", "/documents%2f1x", "/signature_requests//audit_logs",
    "/signature_requests/1/2", "/signature_requests/audit_logs/1", "/signature_requests/" + "9" * 30,
    f"/signature_requests/{2**63}", f"/signature_requests/{2**63}/audit_logs", "/branding_profiles/1",
]  # fmt: skip


def test_unknown_routes_and_ids(owner: ApiClient) -> None:
    for path in UNKNOWN:
        error(owner.get(path), 404, "not_found")


def test_head_is_answered_like_get(owner: ApiClient) -> None:
    assert owner.send("HEAD", "/health").status_code == 200


UNREADABLE = [
    b" ", b"{", b"[]", b'"signature_request"', b"{}", b'{"signature_requests": {}}', b'{"signature_request": NaN}',
    b'{"signature_request": ' + b"9" * 5000 + b"}", b'{"signature_request": "\xff"}', b"\xef\xbb\xbf{}",
    "{}".encode("utf-16"), b'{"signature_request": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    b'{"a":' * 100_000, b'{"signature_request": null}', b'{"signature_request": []}',
]  # fmt: skip


def test_unreadable_bodies_are_422(owner: ApiClient) -> None:
    for body in UNREADABLE:
        invalid(owner.send("POST", "/signature_requests", body))


def test_wrong_content_type_is_415_and_its_parameters_do_not_matter(owner: ApiClient) -> None:
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]:
        response = owner.send("POST", "/signature_requests", b"{}", content_type)
        assert "application/json" in error(response, 415, "unsupported_media_type")
        if content_type != "multipart/form-data":
            response = owner.send("POST", "/documents", b"{}", content_type)
            assert "multipart/form-data" in error(response, 415, "unsupported_media_type")
    body = b'{"signature_request": {}}'
    response = owner.send("POST", "/signature_requests", body, "application/json; charset=utf-8")
    assert "mode: it is required." in invalid(response)


@pytest.mark.parametrize(
    "fault",
    [RuntimeError("the disk is gone"), DomainError("configuration", "secret"), DomainError("internal_error", "secret")],
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


def test_a_body_that_is_nested_too_deeply_is_refused_wherever_it_goes(owner: ApiClient) -> None:
    keys = ("signature_request", "template", "unknown")
    for path in (path for method, path in paths() if method == "POST"):
        client = api_client("pro", "production", owner.organization) if path == "/drafts" else owner
        for levels in (480, 800, 5_000):
            deep = "[" * levels + "]" * levels
            body = "{" + ",".join(f'"{key}": {{"unknown": {deep}}}' for key in keys) + "}"
            answer = client.send("POST", path, body.encode())
            assert answer.status_code in (404, 415, 422), answer.content
            if answer.status_code == 422 and "deep" not in answer.content.decode():
                assert path == "/documents"
            elif answer.status_code == 422:
                assert invalid(answer) == "The body is nested more than 64 levels deep."


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


def test_ids_are_numbers() -> None:
    for path in ["/api/v1/documents/7", "/api/v1/documents/007"]:
        assert resolve(path).kwargs == {"document_id": 7}


READS = {
    "/health": 1,  # the key, with its counters and last use
    "/documents": 3,  # the key, the count, the page
    "/documents/{document}": 2,  # the key, the document with its report
    "/signature_requests?limit=1": 4,  # the key, the count, the page, the requests of it
    "/signature_requests?limit=3": 4,
    "/signature_requests/{request}": 2,  # the key, and the request with everything
    "/signature_requests/{request}/audit_logs": 4,  # the key, the request, the count, the page
}


def test_each_read_takes_so_many_statements(owner: ApiClient, document: int, content: dict[str, Any]) -> None:
    [request, *_others] = [owner.create(content).json()["id"] for _ in range(3)]
    taken = {}
    for path in READS:
        with CaptureQueriesContext(connection) as queries:
            assert owner.get(path.format(document=document, request=request)).status_code == 200
        taken[path] = len(queries)
    assert taken == READS


def test_v1_lives_under_its_own_path_alone() -> None:
    for path in ["/api/v10", "/api", "/api/v1x/health", "/api/v2/health", "/api/health", "/health"]:
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


@pytest.mark.django_db
@pytest.mark.parametrize("environment", ["sandbox", "production"])
def test_it_tells_environment_version_and_time(environment: str) -> None:
    content = api_client("pro", environment).get("/health").json()
    time = datetime.fromisoformat(content.pop("time"))
    assert content == {"status": "ok", "environment": environment, "version": paraph.__version__}
    assert abs(clock.now() - time) < timedelta(seconds=5) and time.tzinfo == UTC
    assert Usage.objects.get().hour_calls == 1


CATALOGS = SOURCE / "api" / "locale"


@cache
def messages() -> set[str]:
    """Return every message that the code translates, except those that only pages of the dashboard show."""
    found: set[str] = set()
    for file in SOURCE.rglob("*.py"):
        if "gettext" in file.read_text() and set(ROOMS).isdisjoint(file.parents):
            calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
            for call in calls:
                if isinstance(call.func, ast.Name) and call.func.id in ("_", "ngettext"):
                    found.add(ast.literal_eval(call.args[0]))
    return found - {message for message, _ in of_the_dashboard()}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_is_in_the_catalog(language: str) -> None:
    """No translation repeats the English; tests/dashboard/test_catalogs.py compares the rest."""
    said = {each.id if isinstance(each.id, str) else each.id[0]: each for each in catalog(language, CATALOGS)}
    assert len(messages()) > 60 and messages() - said.keys() == set()
    assert [message for message in messages() if said[message].string in (message, said[message].id)] == []


def test_the_language_of_the_call(owner: ApiClient) -> None:
    cases: list[tuple[str, str]] = [
        ("fr", "Cette ressource n’existe pas."),
        ("de-AT, en;q=0.5", "Diese Ressource gibt es nicht."),
        ("es", "Este recurso no existe."),
        ("it", "Questa risorsa non esiste."),
        ("pt-BR", "Este recurso não existe."),
        ("nl", "Deze bron bestaat niet."),
        ("ja", "There is no such resource."),
        ("rubbish;;q=x", "There is no such resource."),
    ]
    for accepted, message in cases:
        owner.headers["Accept-Language"] = accepted
        assert error(owner.get("/documents/1"), 404, "not_found") == message


def test_the_mime_type_is_named_in_the_language(owner: ApiClient) -> None:
    owner.headers["Accept-Language"] = "de"
    message = invalid(owner.upload(content_type="image/png"))
    assert message == "Die Datei muss vom MIME-Typ application/pdf sein, nicht „image/png“."
