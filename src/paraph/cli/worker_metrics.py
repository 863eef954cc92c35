"""``GET /metrics`` of a worker: what the processes of its data folder have counted.

What the database knows, every web server tells.
"""

import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError

_SECONDS = 5.0  # that a client may be silent


def serve_metrics(host: str, port: int, token: str) -> ThreadingHTTPServer:
    """Answers in a thread of its own, which ends with the process: whoever has the token or, where there is none,
    this machine. Raises ``DomainError("configuration", …)`` when this machine cannot listen on the port."""
    try:
        server = _Server((host, port), token)
    except OSError as error:
        raise DomainError(
            "configuration", f"Paraph cannot listen on {host} port {port}: {error.strerror or error}."
        ) from error
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], token: str) -> None:
        super().__init__(address, _Handler)
        self.token = token


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _SECONDS

    def do_GET(self) -> None:
        from paraph.operations.exposition import CONTENT_TYPE, counted

        if self.path.partition("?")[0] != "/metrics":
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"Only /metrics is here.\n")
        elif not self._is_insider():
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", b"PARAPH_METRICS_TOKEN opens this page.\n")
        else:
            self._answer(HTTPStatus.OK, CONTENT_TYPE, counted())

    def _is_insider(self) -> bool:
        if self.server.token:
            given = self.headers.get("Authorization", "")
            return tokens.same(given.encode(errors="replace"), f"Bearer {self.server.token}".encode())
        return ip_address(self.client_address[0]).is_loopback

    def _answer(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing: Prometheus asks every few seconds."""
