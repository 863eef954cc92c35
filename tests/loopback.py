"""Servers of a test on this machine: of HTTP, and of mails."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from aiosmtpd.controller import Controller

from tests.cli.service import free_port


class Handler(BaseHTTPRequestHandler):
    """Logs nothing."""

    def log_message(self, *_: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://{self.server_address[0]!s}:{self.server_port}"


@contextmanager
def served(
    handler: type[BaseHTTPRequestHandler], host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> Iterator[Server]:
    with Server((host, 0), handler) as server:
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def mail_server(handler: object, **options: Any) -> Iterator[str]:
    """Gives the address of a server that asks ``handler``, as aiosmtpd does."""
    controller = Controller(handler, hostname="127.0.0.1", port=free_port(), **options)
    controller.start()
    try:
        yield f"smtp://127.0.0.1:{controller.port}"
    finally:
        controller.stop()
