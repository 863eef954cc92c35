"""Two web servers behind nginx as docs/proxies.md has it, restarted one right after the other."""

import socket
import threading
from collections import Counter
from contextlib import suppress
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.attacks.front import Front, started
from tests.cli.service import free_port
from tests.loopback import Handler, send

TIMES = 8


class Upstream:
    """A web server that can be restarted; ``got`` counts the calls of each method."""

    def __init__(self) -> None:
        self.port = free_port()
        self.got: Counter[str] = Counter()
        self.loses = False
        self.start()

    def start(self) -> None:
        upstream = self

        class Counting(Handler):
            protocol_version = "HTTP/1.1"
            timeout = 60

            def do_GET(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                upstream.got[self.command] += 1
                if upstream.loses:
                    self.close_connection = True
                else:
                    send(self)

            do_POST = do_GET

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            connections: list[Any] = []

            def get_request(self) -> Any:
                made = super().get_request()
                self.connections.append(made[0])
                return made

        self.server = Server(("127.0.0.1", self.port), Counting)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Refuse new connections, and end the open ones."""
        self.server.shutdown()
        self.server.server_close()
        for connection in self.server.connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def statuses(front: Front, method: str) -> set[int]:
    with front.client("127.0.0.1") as client:
        return {client.request(method, "/", content=b"x" * (method == "POST")).status_code for _ in range(TIMES)}


def test_restarts_within_ten_seconds_refuse_nobody(tmp_path: Path) -> None:
    one, two = Upstream(), Upstream()
    with started("nginx", tmp_path, one.port, two.port) as front:
        assert statuses(front, "GET") == statuses(front, "POST") == {200}
        assert one.got["POST"] and two.got["POST"]
        for restarted, other in ((one, two), (two, one), (one, two)):
            restarted.stop()
            before = other.got["POST"]
            assert statuses(front, "GET") == statuses(front, "POST") == {200}
            assert other.got["POST"] == before + TIMES
            restarted.start()
    assert one.got["POST"] + two.got["POST"] == 4 * TIMES
    one.stop()
    two.stop()


def test_what_was_sent_and_may_have_changed_something_is_not_repeated(tmp_path: Path) -> None:
    one, two = Upstream(), Upstream()
    with started("nginx", tmp_path, one.port, two.port) as front:
        one.loses = True
        one.got.clear()
        two.got.clear()
        assert statuses(front, "GET") == {200}
        assert statuses(front, "POST") == {200, 502}
        assert one.got["POST"] + two.got["POST"] == TIMES and one.got["POST"]
    one.stop()
    two.stop()
