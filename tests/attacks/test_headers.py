"""What headers of strangers can do to the body behind them: nothing."""

import socket
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPResponse

import pytest

from tests.attacks.conftest import Target


@pytest.fixture(scope="module")
def public(new_target: Callable[..., Target]) -> Target:
    """One that is reached by https, and is asked around its proxy."""
    return new_target(PARAPH_BASE_URL="https://sign.example.com", PARAPH_TRUSTED_PROXIES="10.0.0.1")


@pytest.mark.parametrize("header", ["Transfer_Encoding: chunked", "Content_Length: 1000000", "Content_Type: text/x"])
def test_nothing_is_smuggled_in_a_body(public: Target, header: str) -> None:
    """Its length is that of the true header: what follows is the next question, or the connection ends."""
    with socket.create_connection(("127.0.0.1", public.port), timeout=20) as client:
        lines = ["POST /api/v1/signature_requests HTTP/1.1", "Host: localhost", f"X-Api-Key: {public.key}"]
        lines += ["Content-Type: application/json", "Content-Length: 2", header]
        client.sendall("\r\n".join([*lines, "", "{}"]).encode())
        status, content, closes = read(client)
        assert status == 422 and b"validation_error" in content
        if not closes:
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert read(client)[:2] == (200, b"ok\n")


def read(client: socket.socket) -> tuple[int, bytes, bool]:
    with closing(HTTPResponse(client)) as answer:
        answer.begin()
        return answer.status, answer.read(), answer.will_close
