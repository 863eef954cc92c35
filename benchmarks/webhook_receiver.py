"""A receiver of webhooks on this machine, which keeps every delivery."""

import json
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from paraph.kernel import clock
from paraph_client import InvalidSignatureError, verify_webhook

_LARGEST = 1 << 20


@dataclass(frozen=True)
class ReceivedWebhook:
    """A delivery as it arrived, unchecked."""

    received_at: datetime
    event: str
    delivery: str
    signature: str
    body: bytes

    def is_genuine(self, secret: str) -> bool:
        """Return whether it was signed with the application's ``webhook_secret``."""
        try:
            return bool(verify_webhook(self.body, self.signature, secret)["event"] == self.event)
        except (InvalidSignatureError, ValueError, KeyError, TypeError):
            return False

    def to_json(self) -> dict[str, Any]:
        """Return the delivery as a JSON object. ``body`` stays text, because its exact bytes are signed."""
        return {
            "received_at": clock.iso(self.received_at),
            "event": self.event,
            "delivery": self.delivery,
            "signature": self.signature,
            "body": self.body.decode(errors="replace"),
        }


class WebhookReceiver:
    """A context manager that receives POST requests to ``url``, on loopback only. ``received``: in order of arrival."""

    def __init__(self) -> None:
        self.received: list[ReceivedWebhook] = []
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

    def _take(self, webhook: ReceivedWebhook) -> None:
        with self._arrival:
            self.received.append(webhook)
            self._arrived.add((webhook.event, _request_of(webhook)))
            self._arrival.notify_all()


def json_lines(webhooks: Iterable[ReceivedWebhook]) -> bytes:
    """Return the deliveries as JSON Lines."""
    return "".join(json.dumps(each.to_json(), ensure_ascii=False) + "\n" for each in webhooks).encode()


def _request_of(webhook: ReceivedWebhook) -> object:
    try:
        return json.loads(webhook.body)["signature_request"]["id"]
    except (ValueError, KeyError, TypeError):
        return None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # with 5, a burst of deliveries waits a second and more for its connections

    def __init__(self, take: Any) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.take = take


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"  # with which connections are kept

    def do_POST(self) -> None:
        body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), _LARGEST))
        names = ("X-Service-Event", "X-Service-Delivery", "X-Service-Signature")
        event, delivery, signature = (self.headers.get(name, "") for name in names)
        self.server.take(ReceivedWebhook(clock.now(), event, delivery, signature, body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the demo reports the deliveries itself."""
