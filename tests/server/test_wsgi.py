"""What every response of the server's WSGI application has, whichever view answers."""

import gzip
import io
import sys
from typing import Any

import pytest
from django.core.signals import request_finished
from django.db import connection

from paraph.server.wsgi import application
from tests.api.v1.api_clients import ApiClient, api_client
from tests.factories import scene
from tests.production import Client


@pytest.mark.parametrize("path", ["/api/v1/health", "/api/v1/nothing", "/healthz", "/docs", "/nowhere"])
def test_headers_that_all_responses_share(db: None, path: str) -> None:
    response = Client().get(path)
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Referrer-Policy"] in ("same-origin", "no-referrer")
    assert response["Cross-Origin-Opener-Policy"] == "same-origin"
    assert response["Content-Language"] == "en"
    assert "Accept-Language" in response["Vary"]
    assert len(response["X-Request-Id"]) == 16


@pytest.mark.parametrize("path", ["/api/v1/health", "/healthz", "/docs", "/static/signer/page.css", "/nowhere"])
def test_browsers_are_told_to_come_by_https_where_that_is_how_they_come(db: None, path: str, settings: Any) -> None:
    for base_url, told in (("https://sign.example", "max-age=31536000"), ("http://sign.example", None)):
        settings.PARAPH = settings.PARAPH.model_copy(update={"base_url": base_url})
        assert Client().get(path).get("Strict-Transport-Security") == told


def test_the_language_is_the_callers_and_not_that_of_the_call_before(db: None) -> None:
    french = Client().get("/api/v1/health", headers={"Accept-Language": "fr"})
    assert french["Content-Language"] == "fr" and "en-tête" in french.content.decode()
    assert Client().get("/api/v1/health")["Content-Language"] == "en"


def test_a_header_with_an_underscore_is_refused() -> None:
    response = Client().get("/api/v1/health", HTTP_PARAPH_CHECK="1")
    assert (response.status_code, response.json()["error"]["code"]) == (400, "bad_request")


def test_a_whole_response_is_one_piece_and_ends_before_it_is_sent() -> None:
    finished: list[object] = []

    def finish(**_facts: object) -> None:
        finished.append(True)

    request_finished.connect(finish)
    try:
        pieces = application(environ("/healthz"), lambda *_: None)
    finally:
        request_finished.disconnect(finish)
    assert pieces == [b"ok\n"] and finished


@pytest.mark.django_db(transaction=True)
def test_a_compressed_refusal_of_a_large_form_tells_its_length_once() -> None:
    form = b"x=" + bytes(3 << 20)
    asked: dict[str, Any] = {"REQUEST_METHOD": "POST", "CONTENT_TYPE": "application/x-www-form-urlencoded"}
    asked |= {"HTTP_ACCEPT_ENCODING": "gzip", "CONTENT_LENGTH": str(len(form)), "wsgi.input": io.BytesIO(form)}
    told: list[Any] = []
    [content] = application({**environ(scene().url()), **asked}, lambda *head: told.append(head))
    [(status, headers)] = told
    sizes = [value for name, value in headers if name in ("Content-Length", "Content-Encoding")]
    assert status.startswith("413 ") and sorted(sizes) == [str(len(content)), "gzip"] and gzip.decompress(content)


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_has_gone_is_replaced() -> None:
    """This test does not keep the connection of the tests: it is checked and replaced as in the server."""
    known = environ("/api/v1/branding_profiles", api_client())
    statuses: list[str] = []
    for _ in range(2):
        list(application(dict(known), lambda status, _headers: statuses.append(status)))
        kept: Any = connection.connection
        kept.close()
    assert statuses == ["200 OK"] * 2


def environ(path: str, scope: ApiClient | None = None) -> dict[str, Any]:
    key = {"HTTP_X_API_KEY": scope.api_key} if scope else {}
    shared = {"REQUEST_METHOD": "GET", "QUERY_STRING": "", "REMOTE_ADDR": "127.0.0.1", "SERVER_NAME": "localhost"}
    return {**shared, "SERVER_PORT": "80", "PATH_INFO": path, "wsgi.input": sys.stdin, "wsgi.errors": sys.stderr, **key}
