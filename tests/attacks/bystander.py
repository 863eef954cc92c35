"""What somebody else sees of a service under attack: health, a signing page, plain calls, and what waits itself."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.attacks.conftest import Target
from tests.scenarios.people import Backend, at, signer
from tests.scene import pdf

Seen = dict[str, list[tuple[int, float]]]

READER = b"paraph.pdf.isolated.worker"


class Bystander:
    """Another organization, with a request to sign."""

    def __init__(self, target: Target) -> None:
        self._url = target.base_url
        self.backend = target.backend(str(target.new_application()["api_key"]))
        made = request(self.backend, pdf())
        self._page = made["signers"][0]["signing_url"]
        self._request = f"signature_requests/{made['id']}"

    def watch(self, seconds: float) -> Seen:
        """Status and seconds of each call, round after round."""
        seen: Seen = {}
        over = time.monotonic() + seconds
        while time.monotonic() < over:
            for name, call in self._calls().items():
                answer = call()
                seen.setdefault(name, []).append((answer.status_code, answer.elapsed.total_seconds()))
        return seen

    def _calls(self) -> dict[str, Callable[[], httpx.Response]]:
        return {
            "health": lambda: httpx.get(f"{self._url}/healthz", timeout=60),
            "ready": lambda: httpx.get(f"{self._url}/readyz", timeout=60),
            "page": lambda: httpx.get(self._page, timeout=60),
            "read": lambda: self.backend.call("GET", self._request),
            "upload": lambda: upload(self.backend, pdf()),
        }


def upload(backend: Backend, content: bytes) -> httpx.Response:
    return backend.call("POST", "documents", files={"file": ("a.pdf", content, "application/pdf")})


def request(backend: Backend, content: bytes) -> dict[str, Any]:
    """A request with one signer, on a document of that content, whose id is ``document``."""
    document = backend.upload(content)
    stamps = [{"signer_ref": "a", "stamps": [at()]}]
    documents = [{"id": document, "signers": stamps}]
    made = backend.create(mode="parallel", validity_days=1, signers=[signer("a")], documents=documents)
    return {**made, "document": document}


def readers(target: Target) -> list[int]:
    """The processes of the target that read PDFs now."""
    ours, found = target.processes(), []
    for entry in Path("/proc").iterdir():
        try:
            reads = entry.name.isdigit() and READER in (entry / "cmdline").read_bytes()
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1]) if reads else 0
        except OSError:
            continue
        if parent in ours:
            found.append(int(entry.name))
    return found


@dataclass
class Attack:
    """So many connections, each sending the same again and again. In the end the target's readers are ended, by what
    the kernel does when their time is over."""

    target: Target
    send: Callable[[], httpx.Response]
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
            for process in readers(self.target):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGXCPU)
            time.sleep(0.5)

    def _go_on(self) -> None:
        while not self._over.is_set():
            self.answers.append(self.send())
            self._over.wait(0.5)
