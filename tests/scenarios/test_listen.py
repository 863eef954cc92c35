"""``python -m paraph_client listen`` between a real service and a receiver on a developer's machine."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from paraph_client import verify_webhook
from tests import loopback
from tests.cli.service import Service, wait_until
from tests.receiver import Handler, Receiver, answer, hang_up, receiver
from tests.scenarios.people import Backend, sign

SECRET = "5ec2e7" * 8


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Let Ctrl-C interrupt: where a shell runs the tests in its background, they and their children would ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Listening:
    """The running command, and the lines that it has printed."""

    def __init__(self, url: str, key: str, *options: str, secret: str = SECRET) -> None:
        environment = {**os.environ, "PARAPH_URL": url, "PARAPH_API_KEY": key, "PARAPH_WEBHOOK_SECRET": secret}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "paraph_client", "listen", "--forward-to", *options],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.lines: list[str] = []
        self.reading = threading.Thread(target=self._read)
        self.reading.start()

    def _read(self) -> None:
        assert self.process.stdout
        with self.process.stdout as lines:
            self.lines.extend(iter(lines.readline, ""))

    def says(self, text: str) -> None:
        wait_until(lambda: any(text in line for line in self.lines))

    def interrupt(self) -> str:
        """End the command by Ctrl-C; return the cursor that it prints."""
        self.process.send_signal(signal.SIGINT)
        return self.ended(0).split("--since ")[1].strip()

    def ended(self, status: int) -> str:
        """Wait until the command ends with that status; return its last line."""
        assert self.process.wait(60) == status, self.lines
        self.reading.join()
        return self.lines[-1]


@contextmanager
def road(url: str) -> Iterator[tuple[str, threading.Event]]:
    """Yield the address of a road to the service, and the event that blocks the road."""
    blocked = threading.Event()

    class Carrier(loopback.Handler):
        def do_GET(self) -> None:
            self.close_connection = True
            if blocked.is_set():
                return
            found = httpx.get(f"{url}{self.path}", headers={"X-Api-Key": self.headers["X-Api-Key"]}, timeout=30)
            self.send_response(found.status_code)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(found.content)

    with loopback.served(Carrier) as server:
        yield server.url, blocked


def signed_request(backend: Backend) -> int:
    request = backend.ask("tenant")
    assert sign(request["signers"][0]["signing_url"]).status_code == 200
    return int(request["id"])


def told(receiver: Receiver) -> list[tuple[str, int]]:
    """Return event and request of each delivery, after checking that it is genuine."""
    found = []
    for each in receiver.received:
        payload = verify_webhook(each.body, each.headers["X-Service-Signature"], SECRET)
        assert payload["event"] == each.headers["X-Service-Event"] and "id" not in payload
        found.append((payload["event"], payload["signature_request"]["id"]))
    return found


@pytest.mark.thorough
def test_events_come_as_webhooks_in_order_and_none_is_lost(service: Service) -> None:
    """The receiver refuses one event and hangs up at another; the road to the service is blocked for a while."""
    backend = Backend(service.base_url, service.new_key("pro", "sandbox"))
    signed_request(backend)
    wait_until(lambda: "request.completed" in backend.call("GET", "events").text)
    trouble = iter([answer(500), hang_up])

    def behave(handler: Handler) -> None:
        event = handler.headers["X-Service-Event"]
        refuse = next(trouble, None) if event == "signer.signed" else None
        (refuse or answer(204))(handler)

    with receiver(behave) as developer, road(service.base_url) as (url, blocked):
        listening = Listening(url, backend.api_key, developer.url())
        listening.says("Forwarding events")
        first = signed_request(backend)
        wait_until(lambda: len(told(developer)) == 5)
        blocked.set()
        listening.says("The service does not answer")
        second = signed_request(backend)
        blocked.clear()
        wait_until(lambda: len(told(developer)) == 8)
        since = listening.interrupt()
        third = signed_request(backend)
        again = Listening(url, backend.api_key, developer.url(), "--since", since, "--event", "request.completed")
        wait_until(lambda: len(told(developer)) == 9)
        again.interrupt()

    signed = ("signer.signed", first)
    assert told(developer) == [
        ("signer.otp_sent", first),
        *[signed, signed, signed],
        ("request.completed", first),
        *[(event, second) for event in ("signer.otp_sent", "signer.signed", "request.completed")],
        ("request.completed", third),
    ]
    ids = [each.headers["X-Service-Event-Id"] for each in developer.received]
    assert len(set(ids[1:4])) == 1 and len(set(ids)) == 7
    assert ids[1] in {str(entry["id"]) for entry in backend.journal(first) if entry["event_type"] == "signer.signed"}
    assert len({each.headers["X-Service-Delivery"] for each in developer.received}) == 9
    refused, hung_up, taken = developer.received[1:4]
    assert 5 <= hung_up.at - refused.at < 15 and 5 <= taken.at - hung_up.at < 15
    completed = json.loads(developer.received[8].body)
    assert httpx.get(completed["certificate_url"]).content.startswith(b"%PDF-")
    lines = "".join(listening.lines)
    assert re.search(rf"^signer.signed  request {first}  500  \d+ ms; again in 5 s$", lines, re.MULTILINE)
    assert re.search(rf"^signer.signed  request {first}  no answer \(.*\)  \d+ ms; again in 5 s$", lines, re.MULTILINE)
    assert re.search(rf"^request.completed  request {first}  204  \d+ ms$", lines, re.MULTILINE)


def test_a_secret_is_told_where_there_is_none(service: Service) -> None:
    with receiver() as developer:
        listening = Listening(service.base_url, service.new_key("pro", "sandbox"), developer.url(), secret="")
        listening.says("PARAPH_WEBHOOK_SECRET=")
        listening.interrupt()
    assert re.search(r"PARAPH_WEBHOOK_SECRET=[0-9a-f]{64}$", listening.lines[1].strip())


def test_what_cannot_be_listened_to_is_refused_with_the_reason(service: Service) -> None:
    production = Listening(service.base_url, service.new_key("pro", "production"), "http://localhost:9/hooks")
    unknown = Listening(service.base_url, "0" * 64, "http://localhost:9/hooks")
    unreadable = Listening(
        service.base_url, service.new_key("pro", "sandbox"), "http://localhost:9/hooks", "--since", "yesterday"
    )
    assert "is a key of production" in production.ended(1)
    assert "401 invalid_api_key" in unknown.ended(1)
    assert "422 validation_error" in unreadable.ended(1)
