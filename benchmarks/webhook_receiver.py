"""A receiver of webhooks on this machine, which knows which events have arrived."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

_LARGEST = 1 << 20


class WebhookReceiver:
    """A context manager that receives POST requests to ``url``, on loopback only."""

    def __init__(self) -> None:
        self._arrived: set[tuple[str, object]] = set()
        self._arrival = threading.Condition()
        self._server = _Server(self._take)
        self.url = f"http://127.0.0.1:{self._server.server_port}/webhooks"

    def __enter__(self) -> "WebhookReceiver":
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def wait(self, event: str, request_id: int, seconds: float) -> bool:
        """Wait for an event of a request. Return False when it has not arrived within ``seconds``."""
        with self._arrival:
            return self._arrival.wait_for(lambda: (event, request_id) in self._arrived, seconds)

    def _take(self, event: str, body: bytes) -> None:
        with self._arrival:
            self._arrived.add((event, json.loads(body)["signature_request"]["id"]))
            self._arrival.notify_all()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # with 5, a burst of deliveries waits a second and more for its connections

    def __init__(self, take: Callable[[str, bytes], None]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.take = take


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"  # with which connections are kept

    def do_POST(self) -> None:
        body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), _LARGEST))
        self.server.take(self.headers.get("X-Service-Event", ""), body)
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the tables are all that is printed."""
