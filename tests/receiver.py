"""A real HTTP(S) server on loopback that webhooks are sent to, behaving as badly as a test wants."""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests import loopback
from tests.pdf import forge


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]
    body: bytes
    at: float


class Handler(loopback.Handler):
    server: "Receiver"

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        if len(body) < length:  # the client was killed while it sent the body
            return
        with self.server.guard:
            self.server.received.append(Received(self.path, dict(self.headers.items()), body, time.monotonic()))
        with contextlib.suppress(OSError):  # the client has gone, as it should from a slow or endless answer
            self.server.behave(self)

    do_GET = do_POST


class KeepingHandler(Handler):
    protocol_version = "HTTP/1.1"


Behaviour = Callable[[Handler], None]


def answer(status: int = 200, body: bytes = b"", **headers: str) -> Behaviour:
    return lambda handler: loopback.send(handler, status, body, **headers)


def silent(handler: Handler) -> None:
    handler.server.released.wait(30)


def trickle_body(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    while not handler.server.released.wait(0.05):
        handler.wfile.write(b".")


def trickle_headers(handler: Handler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not handler.server.released.wait(0.05):
        handler.wfile.write(b".")


def endless(handler: Handler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.released.is_set():
        handler.wfile.write(b"x" * 65536)
        handler.server.sent += 65536


def hang_up(handler: Handler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


def not_http(handler: Handler) -> None:
    handler.wfile.write(b"220 mail.example ESMTP\r\n")


class Receiver(ThreadingHTTPServer):
    """``behave``: answers a request, and may be exchanged between requests; ``released``: ends the endless answers;
    ``keeps``: whether connections stay open; ``connections``: how many were made."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(
        self, behave: Behaviour, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1", *, keeps: bool = False
    ) -> None:
        super().__init__((host, 0), KeepingHandler if keeps else Handler)
        self.connections = 0
        self.behave = behave
        self.received: list[Received] = []
        self.sent = 0
        self.guard = threading.Lock()
        self.released = threading.Event()
        self.scheme = "https" if tls else "http"
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_side=True)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        super().process_request(request, client_address)

    def url(self, host: str = "localhost", path: str = "/hooks") -> str:
        return f"{self.scheme}://{host}:{self.server_port}{path}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@contextlib.contextmanager
def receiver(
    behave: Behaviour | None = None, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1", *, keeps: bool = False
) -> Iterator[Receiver]:
    server = Receiver(behave or answer(), tls, host, keeps=keeps)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass(frozen=True)
class Authority:
    """``server``: has a certificate for the given names; ``client``: trusts only the authority of that certificate."""

    server: ssl.SSLContext
    client: ssl.SSLContext


def own_authority(folder: Path, *names: str) -> Authority:
    key, server_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    for_certificates = forge.usage("key_cert_sign")  # Python demands this and the key identifiers from 3.13 on
    root = forge.certificate("TLS root", key, "TLS root", key, ca=True, extensions=[for_certificates])
    hosts = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
    certificate = forge.certificate("receiver", server_key, "TLS root", key, extensions=[(hosts, False)])
    pem = serialization.Encoding.PEM
    (folder / "root.pem").write_bytes(root.public_bytes(pem))
    (folder / "server.pem").write_bytes(
        server_key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(pem)
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "server.pem")
    return Authority(server, ssl.create_default_context(cafile=str(folder / "root.pem")))
