"""The backend's end of the webhooks: a receiver on this machine that keeps whatever comes."""

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
    """One delivery as it came; nothing in it is checked yet."""

    received_at: datetime
    event: str
    delivery: str
    signature: str
    body: bytes

    def is_genuine(self, secret: str) -> bool:
        """Whether it was signed with the application's ``webhook_secret``."""
        try:
            return bool(verify_webhook(self.body, self.signature, secret)["event"] == self.event)
        except (InvalidSignatureError, ValueError, KeyError, TypeError):
            return False

    def to_json(self) -> dict[str, Any]:
        """``body`` stays text: the signature is over its very bytes."""
        return {
            "received_at": clock.iso(self.received_at),
            "event": self.event,
            "delivery": self.delivery,
            "signature": self.signature,
            "body": self.body.decode(errors="replace"),
        }


class WebhookReceiver:
    """A context manager: from entering it, ``url`` can be posted to, on loopback alone; ``received`` is in order."""

    def __init__(self) -> None:
        self.received: list[ReceivedWebhook] = []
        self._here: set[tuple[str, object]] = set()
        self._heard = threading.Condition()
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
        """Whether the event of the request is here within so many seconds."""
        with self._heard:
            return self._heard.wait_for(lambda: (event, request_id) in self._here, seconds)

    def _take(self, webhook: ReceivedWebhook) -> None:
        with self._heard:
            self.received.append(webhook)
            self._here.add((webhook.event, _request_of(webhook)))
            self._heard.notify_all()


def json_lines(webhooks: Iterable[ReceivedWebhook]) -> bytes:
    """JSON Lines, one delivery each."""
    return "".join(json.dumps(each.to_json(), ensure_ascii=False) + "\n" for each in webhooks).encode()


def _request_of(webhook: ReceivedWebhook) -> object:
    try:
        return json.loads(webhook.body)["signature_request"]["id"]
    except (ValueError, KeyError, TypeError):
        return None


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, take: Any) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.take = take


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), _LARGEST))
        names = ("X-Service-Event", "X-Service-Delivery", "X-Service-Signature")
        event, delivery, signature = (self.headers.get(name, "") for name in names)
        self.server.take(ReceivedWebhook(clock.now(), event, delivery, signature, body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing: the demo tells what came."""
