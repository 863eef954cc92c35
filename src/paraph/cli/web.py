"""``paraph web``: the web server alone; granian, whose workers are forked from the process that calls it."""

import gc
import multiprocessing
import os
import socket
import sys
from functools import partial
from typing import Any

import click

from paraph.cli.options import address_options, data_dir_option
from paraph.cli.session import log_start, set_up
from paraph.cli.supervisor import fork
from paraph.kernel import machine
from paraph.kernel.errors import DomainError
from paraph.kernel.machine import follow_parent
from paraph.kernel.settings import Settings, read_settings

_DRAIN_SECONDS = 5  # for the load balancer in front to notice
_KILL_SECONDS = 10
_HEAD_MILLISECONDS = 10_000  # to send the head of a request, and between two requests of a connection
_HEAD_BYTES = 64 * 1024  # the largest head of a request; the server also buffers this much of a body
_TURN_SECONDS = 0.0005  # how long a thread runs Python while others wait (docs/decisions/fair-waiting.md)
_BACKLOG = 4096  # connections that wait to be accepted; the kernel's own limit (somaxconn) may be lower


@click.command()
@address_options
@data_dir_option
def command() -> None:
    """Run the web server, with the database and the workers elsewhere."""
    settings = read_settings()
    check_address(settings)
    set_up(tasks=True)
    log_start("web")
    from paraph.operations.check.service_checks import require_start

    # In a child, so that processes forked later inherit no connection or thread that the checks opened.
    _, status = os.waitpid(fork("check", require_start), 0)
    if os.waitstatus_to_exitcode(status):
        sys.exit(1)  # the child has printed the reason
    run(_DRAIN_SECONDS if settings.drain_seconds is None else settings.drain_seconds)


def check_address(settings: Settings) -> None:
    """Raise ``DomainError("configuration", …)`` when a public address has no proxy in front, or this machine cannot
    listen on the address. Granian itself would not notice: it shares the port with any other process that listens
    there."""
    if settings.lacks_proxy:
        raise DomainError("configuration", settings.lacks_proxy)
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
        family, kind, protocol, _, address = found[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        sentence = f"Paraph cannot listen on {settings.host} port {settings.port}: {error.strerror}."
        raise DomainError("configuration", sentence) from error


def run(drain_seconds: int = 0) -> None:
    """Serve until SIGTERM or SIGINT, and answer the requests that have arrived by then. After SIGTERM, go on
    serving for ``drain_seconds``, during which ``/readyz`` says that the server is not ready."""
    from django.conf import settings
    from django.core.servers.basehttp import get_internal_wsgi_application
    from granian.constants import HTTPModes, Interfaces
    from granian.http import HTTP1Settings
    from granian.log import LogLevels
    from granian.server import Server

    from paraph.database import connections
    from paraph.health.pages import drain_before_end
    from paraph.metrics import metrics
    from paraph.server import static_files

    # Made once here and shared by the processes forked below.
    application = get_internal_wsgi_application()
    static_files.contents()

    processes, _ = settings.PARAPH.processes

    def load() -> Any:
        follow_parent(os.getppid())
        _share_fairly(settings.PARAPH.web_threads, processes)
        sys.setswitchinterval(_TURN_SECONDS)
        connections.work_as("web")
        metrics.starts.inc("web")
        connections.give_back_from_now_on()
        gc.freeze()  # collecting garbage among all that is loaded would stop every thread for 70 ms
        return application

    if multiprocessing.get_start_method(allow_none=True) != "fork":
        multiprocessing.set_start_method("fork", force=True)
    machine.raise_file_limit()
    server = Server(
        "paraph.server.wsgi",
        address=settings.PARAPH.host,
        port=settings.PARAPH.port,
        interface=Interfaces.WSGI,
        workers=processes,
        blocking_threads=settings.PARAPH.web_threads,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=_HEAD_MILLISECONDS, max_buffer_size=_HEAD_BYTES),
        backlog=_BACKLOG,
        backpressure=machine.connections(),
        websockets=False,
        log_level=LogLevels.error,
        log_dictconfig=settings.LOGGING,
        respawn_failed_workers=True,
        respawn_interval=0.1,
        workers_kill_timeout=_KILL_SECONDS,
    )
    if drain_seconds:
        server.on_startup(partial(drain_before_end, drain_seconds))
    server.serve(target_loader=load, wrap_loader=False)


def _share_fairly(threads: int, web_processes: int) -> None:
    """Bound what one tenant may occupy (docs/decisions/fair-waiting.md): in each web process, half of the places for
    expensive work and half of the processes that read PDFs stay free for other tenants. The other half, over all web
    processes, is enough to keep every core busy."""
    from paraph.kernel import places
    from paraph.metrics.metrics import count_wait
    from paraph.pdf.untrusted import sandbox

    places.configure(threads, partial(count_wait, "work"), partial(count_wait, "machine"))
    readers = 2 * -(-machine.cores() // web_processes)
    sandbox.configure(readers, told=partial(count_wait, "reader"))
