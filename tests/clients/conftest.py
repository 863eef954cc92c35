"""A small HTTP server that answers what a test tells it to and keeps what it was asked."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.loopback import Handler, served


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Answering:
    """A server that gives ``answers`` in turn: status, body, headers. ``asked``: the calls that it got."""

    url: str
    answers: list[tuple[int, Any, dict[str, str]]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)


@pytest.fixture
def service() -> Iterator[Answering]:
    class Service(Handler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            state.asked.append(Asked(self.command, self.path, dict(self.headers), body))
            status, content, headers = state.answers.pop(0)
            raw = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(raw)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)

        do_GET = do_POST = do_DELETE = answer

    with served(Service) as server:
        state = Answering(server.url)
        yield state
