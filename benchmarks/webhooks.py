"""Webhooks delivered per second by one worker's dispatcher, alone and beside endpoints that never answer.

    python -m benchmarks.webhooks [--deliveries 2000] [--healthy 20] [--hanging 20]

A PostgreSQL of its own, receivers on loopback in a process of their own. ``hanging`` endpoints accept connections
and say nothing: each exchange with them takes the whole five seconds. Latency is from the record's commit to the
written outcome, with all deliveries recorded at once.
"""

import argparse
import multiprocessing
import os
import socketserver
import statistics
import tempfile
import time
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from paraph.postgres import Server


class Answering(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Hanging(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        time.sleep(30)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deliveries", type=int, default=2000)
    parser.add_argument("--healthy", type=int, default=20)
    parser.add_argument("--hanging", type=int, default=20)
    arguments = parser.parse_args()
    healthy_port, hanging_port = _start_receivers()
    with tempfile.TemporaryDirectory(prefix="paraph-bench-") as folder:
        server = Server(Path(folder))
        server.start()
        try:
            _set_up(folder)
            print(f"{'':34}{'per second':>12}{'median s':>10}{'slowest s':>11}{'CPU ms each':>13}")
            for hanging in (0, arguments.hanging):
                _run(
                    f"{arguments.healthy} endpoints, {hanging} hanging beside",
                    healthy_port,
                    hanging_port,
                    arguments,
                    hanging,
                )
        finally:
            server.stop()


def _set_up(folder: str) -> None:
    os.environ |= {"PARAPH_DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "paraph.config.settings"}
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def _run(title: str, healthy_port: int, hanging_port: int, arguments: argparse.Namespace, hanging: int) -> None:
    from paraph.kernel import clock
    from paraph.outbound.exchange import NetworkAccess
    from paraph.webhooks.dispatcher import Dispatcher
    from paraph.webhooks.models import Delivery

    Delivery.objects.all().delete()
    _record(hanging, hanging_port, 50)
    dispatcher = Dispatcher(NetworkAccess(allow_private=True))
    dispatcher.start()
    if hanging:
        time.sleep(7)  # until they are known to be in trouble, and hold their share of the slots
    healthy = _record(arguments.healthy, healthy_port, arguments.deliveries // arguments.healthy)
    began, cpu = clock.now(), time.process_time()
    mine = Delivery.objects.filter(application__in=healthy)
    while mine.exclude(status="delivered").exists():
        time.sleep(0.2)
    cpu = (time.process_time() - cpu) / (arguments.deliveries // arguments.healthy * arguments.healthy) * 1000
    waits = sorted((row.finished_at - began).total_seconds() for row in mine if row.finished_at)
    dispatcher.stop()
    print(f"{title:34}{len(waits) / waits[-1]:12.0f}{statistics.median(waits):10.2f}{waits[-1]:11.2f}{cpu:13.2f}")


def _record(endpoints: int, port: int, each: int) -> list[int]:
    from django.db import transaction

    from paraph.audit_trail.journal import follow
    from paraph.database.rows import insert
    from paraph.kernel import clock
    from paraph.signature_requests.models import SignatureRequest
    from paraph.tenants.admin_log import OPERATOR
    from paraph.tenants.applications import new_application
    from paraph.tenants.organizations import create_organization
    from paraph.webhooks.outbox import event_and_deliveries

    organization = create_organization(OPERATOR, "bench", "free")
    made = []
    with transaction.atomic():
        for number in range(endpoints):
            url = f"http://127.0.0.1:{port}/{number}"
            application = new_application(organization, "sandbox", "bench", url).application
            request = SignatureRequest.objects.create(
                organization=organization, environment="sandbox", application=application, mode="parallel",
                validity_days=1, expires_at=clock.now() + timedelta(days=1),
            )  # fmt: skip
            for _ in range(each):
                entry = follow(request, "request.expired")
                insert([entry, *event_and_deliveries(entry, request)])
            made.append(application.pk)
    return made


def _start_receivers() -> tuple[int, int]:
    ports = []
    for serve in (_serve_healthy, _serve_hanging):
        here, there = multiprocessing.Pipe()
        multiprocessing.Process(target=serve, args=(there,), daemon=True).start()
        ports.append(here.recv())
    return ports[0], ports[1]


def _serve_healthy(tell: Connection) -> None:
    _serve(ThreadingHTTPServer(("127.0.0.1", 0), Answering), tell)


def _serve_hanging(tell: Connection) -> None:
    socketserver.ThreadingTCPServer.daemon_threads = True
    _serve(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Hanging), tell)


def _serve(server: socketserver.TCPServer, tell: Connection) -> None:
    server.socket.listen(512)
    tell.send(server.server_address[1])
    server.serve_forever()


if __name__ == "__main__":
    main()
