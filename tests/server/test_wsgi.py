"""Where a call comes from: the peer, unless that is a proxy that the operator trusts; and what every response of the
server's WSGI application has, whichever view answers."""

import gzip
import io
import sys
from typing import Any

import pytest
from django.core.signals import request_finished
from django.db import connection
from django.test import RequestFactory

from paraph.kernel.settings import read_settings
from paraph.server.client_address import client_address, guarded_network
from paraph.server.wsgi import application
from tests.api.v1.api_clients import ApiClient, api_client
from tests.factories import scene
from tests.production import Client


@pytest.mark.parametrize(
    ("trusted", "forwarded", "expected"),
    [
        ("", "1.2.3.4", "10.0.0.1"),
        ("10.0.0.0/8", "", "10.0.0.1"),
        ("10.0.0.0/8", "1.2.3.4", "1.2.3.4"),
        ("10.0.0.0/8", "9.9.9.9, 1.2.3.4", "1.2.3.4"),  # what a client writes itself stands further left
        ("10.0.0.0/8", "9.9.9.9, 1.2.3.4, 10.0.0.7", "1.2.3.4"),
        ("10.0.0.0/8", "9.9.9.9, rubbish", "10.0.0.1"),
        ("10.0.0.0/8", "::ffff:1.2.3.4", "1.2.3.4"),
        ("10.0.0.0/8", "9.9.9.9, 1.2.3.4:5678", "1.2.3.4"),  # some proxies write the port as well
        ("10.0.0.0/8", "[2001:db8::5]:443", "2001:db8::5"),
        ("10.0.0.0/8", "[2001:db8::5]", "2001:db8::5"),
        ("10.0.0.0/8", "1.2.3.4:port", "10.0.0.1"),
        ("192.168.0.1", "1.2.3.4", "10.0.0.1"),
    ],
)
def test_forwarded_addresses(
    settings: Any, monkeypatch: pytest.MonkeyPatch, trusted: str, forwarded: str, expected: str
) -> None:
    monkeypatch.setenv("PARAPH_TRUSTED_PROXIES", trusted)
    settings.PARAPH = read_settings()
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    assert client_address(RequestFactory().get("/", REMOTE_ADDR="10.0.0.1", headers=headers)) == expected


def test_a_server_that_does_not_say_gives_nothing_and_the_guard_counts_an_ipv6_network() -> None:
    assert client_address(RequestFactory().get("/", REMOTE_ADDR="")) == ""
    assert guarded_network("2001:db8:1:2:3::4") == "2001:db8:1:2::/64"
    assert guarded_network("1.2.3.4") == "1.2.3.4"


@pytest.mark.parametrize(
    "path", ["/api/v1/health", "/api/v1/nothing", "/healthz", "/docs", "/nowhere", "/static/signer/page.css"]
)
def test_headers_that_all_responses_share(db: None, path: str, settings: Any) -> None:
    """Browsers are told to come by HTTPS where that is how they come."""
    response = Client().get(path)
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Referrer-Policy"] in ("same-origin", "no-referrer")
    assert response["Cross-Origin-Opener-Policy"] == "same-origin"
    assert response["Content-Language"] == "en"
    assert "Accept-Language" in response["Vary"]
    assert len(response["X-Request-Id"]) == 16
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


@pytest.mark.django_db  # what ends a request looks at its connection
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
