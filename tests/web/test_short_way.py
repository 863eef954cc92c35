"""The API's short way gives what Django's long one would."""

import io
import logging
import sys
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from paraph.web.short_way import is_short
from paraph.web.wsgi import application
from tests.api.v1.cast import Someone, someone

pytestmark = pytest.mark.django_db(transaction=True)  # its connection is looked after as the server's are

CHANGING = {"X-Request-Id", "X-RateLimit-Remaining"}


def key() -> str:
    return str(someone().api_key)


def short(path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """The application that the server runs, asked without a server."""
    started: list[tuple[str, list[tuple[str, str]]]] = []
    environ = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": path,
        "QUERY_STRING": "",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.input": io.BytesIO(),
        "wsgi.errors": sys.stderr,
        **{f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()},
    }
    content = b"".join(application(environ, lambda *start: started.append(start)))
    [(status, told)] = started
    return int(status.split()[0]), dict(told), content


def long(path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    response = Client().get(path, headers=headers)
    return response.status_code, dict(response.items()), response.content


@pytest.mark.parametrize("path", ["/api/v1/branding_profiles", "/api/v1/nothing", "/api/v1", "/api/v1/documents/1"])
@pytest.mark.parametrize("headers", [{}, {"Accept-Language": "fr"}, {"X-Api-Key": "wrong"}])
@pytest.mark.parametrize("known", [True, False])
def test_both_ways_answer_the_same(path: str, headers: dict[str, str], known: bool) -> None:
    headers = headers | ({"X-Api-Key": key()} if known else {})
    status, told, content = short(path, **headers)
    expected_status, expected, expected_content = long(path, **headers)
    assert (status, content) == (expected_status, expected_content)
    assert told.keys() == expected.keys() - {"Content-Length"}
    assert {name: told[name] for name in told.keys() - CHANGING} == {
        name: expected[name] for name in told.keys() - CHANGING
    }


@pytest.mark.parametrize("path", ["/api/v1/health", "/healthz", "/docs", "/static/signer/page.css", "/nowhere"])
def test_browsers_are_told_to_come_by_https_where_that_is_how_they_come(path: str, settings: Any) -> None:
    for base_url, told in (("https://sign.example", "max-age=31536000"), ("http://sign.example", None)):
        settings.PARAPH = settings.PARAPH.model_copy(update={"base_url": base_url})
        assert short(path)[1].get("Strict-Transport-Security") == told


def test_the_language_is_the_callers_and_not_that_of_the_call_before() -> None:
    _, french, content = short("/api/v1/health", **{"Accept-Language": "fr"})
    assert french["Content-Language"] == "fr" and "en-tête" in content.decode()
    assert short("/api/v1/health")[1]["Content-Language"] == "en"
    assert Someone(None).get("/health")["Content-Language"] == "en"


def test_a_call_leaves_its_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "paraph.request"):
        _, told, _ = short("/api/v1/documents/7", **{"X-Api-Key": key()})
    facts: Any = caplog.records[-1].msg
    assert facts["request_id"] == told["X-Request-Id"]
    assert (facts["method"], facts["status"]) == ("GET", 404)
    assert "document_id" in facts["route"]


def test_a_connection_that_has_gone_is_replaced() -> None:
    known = key()
    assert short("/api/v1/branding_profiles", **{"X-Api-Key": known})[0] == 200
    kept: Any = connection.connection
    kept.close()
    assert short("/api/v1/branding_profiles", **{"X-Api-Key": known})[0] == 200


@pytest.mark.parametrize("path", ["/api/v10", "/api", "/api/v1x/health", "/"])
def test_what_only_looks_like_the_api_is_not_answered_by_it(path: str) -> None:
    assert not is_short(path)
    assert "error" not in Client().get(path).content.decode()
