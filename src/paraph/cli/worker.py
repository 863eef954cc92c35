"""``paraph worker``: one job worker process, and ``GET /metrics`` of what the processes of its data folder counted."""

import os
import signal
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any

import click

from paraph.cli.options import data_dir_option
from paraph.cli.session import set_up
from paraph.cli.start_line import log_start
from paraph.cli.worker_process import run
from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.kernel.settings import read_settings

_SECONDS = 5.0  # that a client may be silent


@click.command()
@data_dir_option
@click.option("--metrics-port", type=click.IntRange(1, 65535), help="Port of /metrics, at the address of PARAPH_HOST.")
def command(metrics_port: int | None) -> None:
    """Run one job worker, with the database elsewhere."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))  # until it works there is nothing to finish
    set_up(tasks=True)
    log_start("worker")
    from paraph.operations.check.service_checks import require_start

    require_start()
    if metrics_port:
        settings = read_settings()
        serve_metrics(settings.host, metrics_port, settings.metrics_token)
    run()


def serve_metrics(host: str, port: int, token: str) -> ThreadingHTTPServer:
    """Answer in a thread of its own, which ends with the process: whoever has the token or, where there is none,
    this machine. Raise ``DomainError("configuration", …)`` when this machine cannot listen on the port."""
    try:
        server = _Server((host, port), token)
    except OSError as error:
        raise DomainError(
            "configuration", f"Paraph cannot listen on {host} port {port}: {error.strerror or error}."
        ) from error
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], token: str) -> None:
        super().__init__(address, _Handler)
        self.token = token


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _SECONDS

    def do_GET(self) -> None:
        from paraph.operations.exposition import CONTENT_TYPE, counted

        if self.path.partition("?")[0] != "/metrics":
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"Only /metrics is here.\n")
        elif not self._has_internal_access():
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", b"PARAPH_METRICS_TOKEN opens this page.\n")
        else:
            self._answer(HTTPStatus.OK, CONTENT_TYPE, counted())

    def _has_internal_access(self) -> bool:
        if self.server.token:
            given = self.headers.get("Authorization", "")
            return tokens.same(given.encode(errors="replace"), f"Bearer {self.server.token}".encode())
        return ip_address(self.client_address[0]).is_loopback

    def _answer(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: Prometheus asks every few seconds."""
