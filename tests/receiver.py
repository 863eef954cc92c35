"""A real HTTP(S) server on loopback that webhooks are sent to, behaving as badly as a test wants."""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from paraph.kernel import clock


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]
    body: bytes
    at: float


class Handler(BaseHTTPRequestHandler):
    server: "Receiver"

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        if len(body) < length:  # the client was killed in the middle of it
            return
        with self.server.guard:
            self.server.received.append(Received(self.path, dict(self.headers.items()), body, time.monotonic()))
        with contextlib.suppress(OSError):  # the client has gone, as it should from a slow or endless answer
            self.server.behave(self)

    do_GET = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        pass


class KeepingHandler(Handler):
    protocol_version = "HTTP/1.1"


Behaviour = Callable[[Handler], None]


def answer(status: int = 200, body: bytes = b"", **headers: str) -> Behaviour:
    def behave(handler: Handler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return behave


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
    """``behave`` may be exchanged between requests; ``released`` ends the answers that do not end. ``keeps``: whether
    connections stay open; ``connections`` counts them."""

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
    """``server`` has a certificate for the names asked for; ``client`` trusts nobody but its authority."""

    server: ssl.SSLContext
    client: ssl.SSLContext


def own_authority(folder: Path, *names: str) -> Authority:
    key, root = _certificate("Test root", None, None, [])
    server_key, certificate = _certificate("receiver", root, key, list(names))
    pem = serialization.Encoding.PEM
    (folder / "root.pem").write_bytes(root.public_bytes(pem))
    (folder / "server.pem").write_bytes(
        server_key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(pem)
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "server.pem")
    return Authority(server, ssl.create_default_context(cafile=str(folder / "root.pem")))


_SIGNS_CERTIFICATES = x509.KeyUsage(
    digital_signature=False, content_commitment=False, key_encipherment=False, data_encipherment=False,
    key_agreement=False, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False,
)  # fmt: skip


def _certificate(
    name: str, issuer: x509.Certificate | None, issuer_key: ec.EllipticCurvePrivateKey | None, hosts: list[str]
) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = clock.now()
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    if issuer_key:  # this and the next as RFC 5280 has them, which Python demands from 3.13 on
        of_issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
        builder = builder.add_extension(of_issuer, critical=False)
    else:
        builder = builder.add_extension(_SIGNS_CERTIFICATES, critical=True)
    if hosts:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts]), False)
    return key, builder.sign(issuer_key or key, hashes.SHA256())
