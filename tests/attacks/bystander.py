"""An attack on many connections, and what somebody else sees of the service meanwhile: health, a signing page, plain
calls, and uploads, which have to wait themselves."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import httpx

from tests.attacks.conftest import Target
from tests.factories import pdf

Seen = dict[str, list[tuple[int, float]]]

SOON = 10.0  # seconds, on a machine that others use as well; without fairness each call takes a minute
PAUSE = 0.5  # seconds before a connection of an attack sends again


class Bystander:
    """Another organization, with a request to sign."""

    def __init__(self, target: Target) -> None:
        self._backend = target.backend(str(target.new_application()["api_key"]))
        made = self._backend.ask("zoe")
        self._page = made["signers"][0]["signing_url"]
        self._request = f"/api/v1/signature_requests/{made['id']}"
        self._target = target

    def watch(self, seconds: float) -> Seen:
        """Make the calls round after round; return, by the name of the call, the status and seconds of each answer."""
        seen: Seen = {}
        over = time.monotonic() + seconds
        with client(self._target) as connection:
            while time.monotonic() < over:
                for name, call in self._calls(connection).items():
                    answer = call()
                    seen.setdefault(name, []).append((answer.status_code, answer.elapsed.total_seconds()))
        return seen

    def _calls(self, connection: httpx.Client) -> dict[str, Callable[[], httpx.Response]]:
        get, key = connection.get, self._backend.api_key
        return {
            "health": lambda: get("/healthz"),
            "ready": lambda: get("/readyz"),
            "page": lambda: get(self._page),
            "read": lambda: get(self._request, headers={"X-Api-Key": key}),
            "upload": lambda: upload(connection, key, pdf()),
        }


@dataclass
class Attack:
    """An attack on so many connections, each of which sends the same again and again. At its end, the target's readers
    are ended by the signal that the kernel sends when their processor time is over."""

    target: Target
    send: Callable[[httpx.Client], httpx.Response]
    connections: int
    answers: list[httpx.Response] = field(default_factory=list)

    def __enter__(self) -> "Attack":
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._go_on) for _ in range(self.connections)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        while any(thread.is_alive() for thread in self._threads):
            for process in self.target.readers():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGXCPU)
            time.sleep(PAUSE)

    def _go_on(self) -> None:
        with client(self.target) as connection:
            while not self._over.is_set():
                self.answers.append(self.send(connection))
                self._over.wait(PAUSE)


def client(target: Target) -> httpx.Client:
    """Return a client of its own, which keeps its connection."""
    return httpx.Client(base_url=target.base_url, timeout=90, verify=False)  # plain HTTP: no certificates to load


def upload(connection: httpx.Client, key: str, content: bytes) -> httpx.Response:
    files = {"file": ("a.pdf", content, "application/pdf")}
    return connection.post("/api/v1/documents", files=files, headers={"X-Api-Key": key})
