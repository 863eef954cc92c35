"""``paraph check`` on the proxy in front of a public service."""

import socket
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from typing import Any

import pytest

from paraph.operations.check import surroundings as check
from paraph.operations.check.surroundings import proxy
from paraph.server.middleware import PROBE
from tests import loopback


@pytest.fixture
def configured(settings: Any) -> Any:
    def configure(**fields: Any) -> tuple[str, str]:
        settings.PARAPH = settings.PARAPH.model_copy(update=fields)
        outcome = proxy()
        return outcome.status.value, outcome.sentence

    return configure


class Front(ThreadingHTTPServer):
    """A proxy and the service behind it. ``passes``: what arrives there."""

    passes = True
    refuses = False


class Handler(loopback.Handler):
    server: Front

    def do_GET(self) -> None:
        probed = PROBE in self.headers
        ours = probed and self.server.passes
        self.send_response(400 if ours or (probed and self.server.refuses) else 200)
        self.end_headers()
        self.wfile.write(b'{"error": {"code": "bad_request", "message": "No."}}' if ours else b"ok")


@pytest.fixture
def front() -> Iterator[Front]:
    with Front(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def public(front: Front) -> dict[str, Any]:
    """A base URL that is not local, and yet is this machine."""
    return {"base_url": f"http://127.0.0.1.nip:{front.server_port}", "trusted_proxies": ["127.0.0.1/32"]}


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    """``127.0.0.1.nip`` is the address before the dot."""
    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *more, **named: real(str(host).removesuffix(".nip"), *more, **named)
    )


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"base_url": "", "host": "127.0.0.1"}, "ok"),
        ({"base_url": "https://sign.example.com"}, "failed"),
        ({"base_url": "http://203.0.113.9"}, "warning"),
        ({"host": "0.0.0.0"}, "warning"),
    ],
)
def test_a_public_address_wants_a_proxy_and_a_local_one_none(
    configured: Any, fields: dict[str, str], found: str
) -> None:
    status, sentence = configured(**fields)
    assert status == found and ("PARAPH_TRUSTED_PROXIES" in sentence) == (found != "ok")


@pytest.mark.parametrize("host", ["8.8.8.8", "0.0.0.0"])
def test_a_service_that_can_be_reached_around_its_proxy(
    configured: Any, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setattr(check, "_own_address", lambda *_: ["8.8.8.8"])
    status, sentence = configured(base_url="https://sign.example.com", host=host, trusted_proxies=["10.0.0.0/8"])
    assert status == "warning" and "8.8.8.8" in sentence


@pytest.mark.parametrize(
    ("passes", "refuses", "status"), [(True, False, "failed"), (False, False, "ok"), (False, True, "ok")]
)
def test_underscores_are_looked_for_where_the_proxy_is_reached(
    configured: Any, front: Front, passes: bool, refuses: bool, status: str
) -> None:
    front.passes, front.refuses = passes, refuses
    fields = public(front)
    assert configured(**fields)[0] == status
    front.shutdown()
    front.server_close()
    away, sentence = configured(**fields)
    assert away == "warning" and "cannot be reached" in sentence
