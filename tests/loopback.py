"""Servers for HTTP and for mails, run by a test on this machine."""

import ssl
from collections.abc import Callable, Iterator
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


def send(handler: BaseHTTPRequestHandler, status: int = 200, body: bytes = b"", **headers: str) -> None:
    """Send a whole answer. ``headers`` may have an underscore for each hyphen."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


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
def answered(
    answer: Callable[[BaseHTTPRequestHandler], object], host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> Iterator[Server]:
    """Run a server whose every answer comes from one function, over connections that stay open."""

    class Service(Handler):
        protocol_version = "HTTP/1.1"
        wbufsize = 65536  # head and body in one packet

        def do_POST(self) -> None:
            answer(self)

        do_GET = do_POST

    with served(Service, host, tls) as server:
        yield server


@contextmanager
def site(page: Callable[[], str]) -> Iterator[str]:
    """Serve a site of another origin, with one page, which shows a signing page in a frame. Yield its origin."""

    def respond(handler: BaseHTTPRequestHandler) -> None:
        if handler.path == "/":
            send(handler, 200, page().encode(), Content_Type="text/html; charset=utf-8")
        else:
            send(handler, 204)

    with answered(respond) as server:
        yield server.url


@contextmanager
def mail_server(handler: object, **options: Any) -> Iterator[str]:
    """Yield the address of an SMTP server whose replies come from ``handler``, as in aiosmtpd."""
    controller = Controller(handler, hostname="127.0.0.1", port=free_port(), **options)
    controller.start()
    try:
        yield f"smtp://127.0.0.1:{controller.port}"
    finally:
        controller.stop()
