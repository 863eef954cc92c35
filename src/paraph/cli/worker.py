"""``paraph worker``: a job worker process, with its queues of jobs, its webhooks and the upkeep that every worker does;
``GET /metrics`` with what the processes of its data folder counted; and its liveness, reported to systemd's watchdog
and by a file in the data folder, which is renewed while all parts of the worker run, says what keeps it from working,
and is read by ``scripts/healthy``."""

import asyncio
import faulthandler
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import structlog

from paraph.cli.options import data_dir_option
from paraph.cli.session import log_start, set_up
from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.kernel.settings import read_settings

if TYPE_CHECKING:
    from paraph.webhooks.dispatcher import Dispatcher

_EXPIRE_SECONDS = 3  # requests expire within 5 s (rule 3.1)
_RESCUE_SECONDS = 3
_FORGET_SECONDS = 3600
_GRACE_SECONDS = 22.0  # for running jobs after SIGTERM; supervisors of containers mostly wait for 30 s
_LAST_SECONDS = 27.0  # for everything else, such as a statement that waits for a database that does not answer
_SILENT_SECONDS = 5.0  # after which a silent client of /metrics is cut off


@click.command()
@data_dir_option
@click.option("--metrics-port", type=click.IntRange(1, 65535), help="Port for /metrics, on the address in PARAPH_HOST.")
def command(metrics_port: int | None) -> None:
    """Run one job worker, with the database elsewhere."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))  # before the worker runs jobs, there is nothing to finish
    set_up(tasks=True)
    log_start("worker")
    from paraph.operations.check.service_checks import require_start

    require_start()
    if metrics_port:
        settings = read_settings()
        serve_metrics(settings.host, metrics_port, settings.metrics_token)
    run()


def serve_metrics(host: str, port: int, token: str) -> ThreadingHTTPServer:
    """Serve ``/metrics`` in a thread that ends with the process: to whoever has the token or, if there is none, to
    this machine alone. Raise ``DomainError("configuration", …)`` when this machine cannot listen on the port."""
    try:
        server = ThreadingHTTPServer((host, port), type("Handler", (_Handler,), {"token": token}))
    except OSError as error:
        sentence = f"Paraph cannot listen on {host} port {port}: {error.strerror or error}."
        raise DomainError("configuration", sentence) from error
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server


class _Handler(BaseHTTPRequestHandler):
    token = ""
    timeout = _SILENT_SECONDS

    def do_GET(self) -> None:
        from paraph.operations.exposition import CONTENT_TYPE, counted

        if self.path.partition("?")[0] != "/metrics":
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"Only /metrics is here.\n")
        elif not self._has_internal_access():
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", b"PARAPH_METRICS_TOKEN opens this page.\n")
        else:
            self._answer(HTTPStatus.OK, CONTENT_TYPE, counted())

    def _has_internal_access(self) -> bool:
        if self.token:
            given = self.headers.get("Authorization", "")
            return tokens.same(given.encode(errors="replace"), f"Bearer {self.token}".encode())
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


def run() -> None:
    """Work until SIGTERM or SIGINT, and finish the running jobs and webhooks first. Jobs that take longer than 22 s
    are left to other workers. An outage of the database only makes the worker wait."""
    from django.conf import settings

    from paraph.database import connections
    from paraph.metrics import metrics
    from paraph.pdf.untrusted.sandbox import configure
    from paraph.webhooks.dispatcher import Dispatcher

    connections.work_as("worker")
    metrics.starts.inc("worker")
    connections.give_back_from_now_on()
    # One process for each job that seals, even if all jobs are of one tenant, which gets at most half of the places.
    configure(2 * settings.PARAPH.worker_concurrency).warm()
    dispatcher = Dispatcher()
    dispatcher.start()
    try:
        asyncio.run(_work(dispatcher))
    finally:
        dispatcher.stop()


async def _work(dispatcher: "Dispatcher") -> None:
    from django.conf import settings
    from procrastinate.signals import on_stop

    from paraph.queue.jobs import QUEUES
    from paraph.queue.queue_worker import STILL_SECONDS, QueueWorker

    threads = ThreadPoolExecutor(len(QUEUES) * settings.PARAPH.worker_concurrency)
    asyncio.get_running_loop().set_default_executor(threads)
    workers = [QueueWorker(queue, settings.PARAPH.worker_concurrency) for queue in QUEUES]
    asked, stopping = asyncio.Event(), threading.Event()

    def stop() -> None:
        # A supervisor would kill a process that has not ended by then, and nothing would be logged.
        timer = threading.Timer(_LAST_SECONDS, _exit, ["what this worker was at takes too long and is left to others"])
        timer.daemon = True
        timer.start()
        asked.set()
        stopping.set()
        dispatcher.finish()
        for worker in workers:
            worker.stop()

    upkeep_due: dict[str, float] = {}

    def due() -> dict[str, float]:
        """Return by when each part has to show a sign of life again, on the monotonic clock."""
        queues = {f"queue {worker.queue}": worker.due for worker in workers}
        return {**upkeep_due, **queues, "webhooks": dispatcher.turned_at + STILL_SECONDS}

    def trouble() -> str:
        return "the database does not answer" if any(worker.away for worker in workers) else ""

    upkeep = _upkeep(stopping.is_set, upkeep_due)
    upkeep.append(asyncio.create_task(report_liveness(settings.DATA_DIR, due, trouble)))
    running = [asyncio.create_task(worker.run()) for worker in workers]
    with on_stop(stop):
        await asyncio.wait([*running, asyncio.create_task(asked.wait())], return_when=asyncio.FIRST_COMPLETED)
    if not asked.is_set():
        stop()  # one queue has failed: the others stop too
    _, late = await asyncio.wait(running, timeout=_GRACE_SECONDS)
    if late:  # no thread can be ended, but every job is safe to repeat
        for worker in workers:
            await worker.hand_back()
        _exit("jobs at hand take too long and are left to other workers")
    for task in upkeep:
        task.cancel()
    for run in running:
        run.result()


def _exit(why: str) -> None:
    logging.getLogger("paraph.worker").warning(why)
    os._exit(0)


def _upkeep(stopping: Callable[[], bool], due: dict[str, float]) -> "list[asyncio.Task[None]]":
    from paraph.flow.ending import expire_due
    from paraph.flow.jobs import give_up
    from paraph.queue.stalled_jobs import forget_old_jobs, rescue_jobs

    expire, rescue = partial(expire_due, stopping), partial(rescue_jobs, give_up)
    works = (
        (_EXPIRE_SECONDS, expire, "expiring requests that are due"),
        (_RESCUE_SECONDS, rescue, "looking after the jobs of dead workers"),
        (_FORGET_SECONDS, forget_old_jobs, "forgetting old jobs"),
    )
    return [asyncio.create_task(_repeat(seconds, work, name, due)) for seconds, work, name in works]


async def _repeat(seconds: float, work: Callable[[], object], name: str, due: dict[str, float]) -> None:
    """Repeat the work for ever, in a thread of its own. Log its faults, except an outage of the database, which the
    workers of the queues log. Note in ``due``, under ``name``, by when the work has to begin anew."""
    from paraph.database.outage import is_outage
    from paraph.queue.queue_worker import LONGEST_SECONDS

    thread, loop = ThreadPoolExecutor(1), asyncio.get_running_loop()
    while True:
        due[name] = time.monotonic() + LONGEST_SECONDS
        try:
            await loop.run_in_executor(thread, _with_fresh_connection, work)
        except Exception as fault:
            if not is_outage(fault):
                logging.getLogger("paraph.worker").exception("%s failed", name)
        await asyncio.sleep(seconds)


def _with_fresh_connection(work: Callable[[], object]) -> None:
    from django.db import close_old_connections

    close_old_connections()
    try:
        work()
    finally:
        close_old_connections()


_EVERY_SECONDS = 2.0
_STILL_SECONDS = 60

log = structlog.get_logger("paraph.worker")


async def report_liveness(data_dir: Path, due: Callable[[], dict[str, float]], trouble: Callable[[], str]) -> None:
    """Report for ever that this process works, and its ``trouble``, "" for none. ``due``: by when, on the monotonic
    clock, each of its parts has to show a sign of life. Once a part is late, or this task has not run for a minute, the
    process writes the stacks of its threads and ends: a thread cannot be ended, every job is safe to repeat, and
    whatever keeps workers running starts another."""
    path, before = data_dir / "alive" / f"worker-{socket.gethostname()}-{os.getpid()}", None
    _make_room(path)
    while True:
        faulthandler.dump_traceback_later(_STILL_SECONDS, exit=True)
        if late := [part for part, moment in due().items() if moment < time.monotonic()]:
            log.error("a part of this worker stands still, and the worker ends", parts=late)
            faulthandler.dump_traceback()
            os._exit(1)
        with suppress(OSError):  # a full disk ends no worker
            if before != (now := trouble()):
                path.write_text(now)
                before = now
            os.utime(path, (time.time(), time.time()))  # by this machine's clock, even if the disk is another machine's
        _notify_systemd("READY=1\nWATCHDOG=1")
        await asyncio.sleep(_EVERY_SECONDS)


def _make_room(path: Path) -> None:
    """Make the folder of the file, and remove the files of processes that ended a day ago or more."""
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for each in path.parent.iterdir():
            if time.time() - each.stat().st_mtime > 86_400:
                each.unlink(missing_ok=True)


def _notify_systemd(words: str) -> None:
    """Send the words to systemd if a unit of ``Type=notify`` started the process (sd_notify)."""
    if address := os.environ.get("NOTIFY_SOCKET"):
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as there:
            there.sendto(words.encode(), address.replace("@", "\0", 1) if address[0] == "@" else address)
