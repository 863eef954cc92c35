"""Django and the database, set up for a command; the lock of a data folder; what a start leaves in the log."""

import fcntl
import gc
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_origin
from urllib.parse import urlsplit

import click
import structlog

from paraph import __version__
from paraph.kernel import machine
from paraph.kernel.errors import DomainError
from paraph.kernel.rates import PerHourAndDay
from paraph.kernel.settings import Settings, read_settings, variable
from paraph.postgres import Server

if TYPE_CHECKING:
    from paraph.tenants.admin_log import Actor


def set_up(*, tasks: bool) -> None:
    """Set Django up, with or without the tasks of the job queue: they import the whole flow and its PDF tools,
    which takes a second or two that an operator's command need not wait."""
    with nothing_collected():
        import django
        from django.conf import settings

        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "paraph.config.settings")
        if not tasks:
            settings.PROCRASTINATE_AUTODISCOVER_MODULE_NAME = None
        django.setup()


@contextmanager
def nothing_collected() -> Iterator[None]:
    """Suspend garbage collection during imports, whose objects stay: it would take a tenth of the time of a start."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def database() -> Iterator["Actor"]:
    """Set Django up and give access to the database, whether or not the service runs, on behalf of the operator, whose
    command is noted. Without a service, the embedded server runs for as long as the command does. Raise
    ``DomainError``."""
    settings = read_settings()
    lock = None if settings.database_url else DataFolderLock(settings.data_dir)
    while lock:
        if lock.take("command"):
            with _embedded_server(settings):
                yield noted_operator()
            lock.release()
            return
        if lock.wait_until_ready():
            break
    with _running_database():
        yield noted_operator()


_UNNOTED = {
    "check", "migrate", "verify-store", "usage", "secret status", "retention show",
    "organization list", "application list", "key list", "webhook list",
}  # fmt: skip
"""Commands that are not noted: they change nobody's data and show nothing about persons."""


def noted_operator() -> "Actor":
    """Return the operator who gives the command, named by ``PARAPH_OPERATOR`` or else by their login, after noting the
    command in the installation's log, before it shows or changes anything. Of its arguments, only numbers and flags
    are noted: a text may name a person, and nothing in the log can be erased."""
    from paraph.tenants.admin_log import Actor, note
    from paraph.tenants.models import ActorKind

    # The person who logged in to the system, even if they now act as another account.
    login = os.environ.get("SUDO_USER") or os.environ.get("LOGNAME") or f"uid {os.getuid()}"
    operator = Actor(ActorKind.OPERATOR, email=(read_settings().operator or login)[:320])
    context = click.get_current_context(silent=True)
    if context is None:  # a program that is not a subcommand of paraph
        return operator
    command = context.command_path.removeprefix(context.find_root().command_path).strip()
    if command not in _UNNOTED:
        asked = {name: value for name, value in context.params.items() if value and isinstance(value, int)}
        asked.pop("as_json", None)
        note(None, operator, command, after=asked)
    return operator


@contextmanager
def database_to_fill() -> Iterator[str]:
    """Yield the URL of the database, without setting Django up or migrating; the embedded server runs meanwhile. Raise
    ``DomainError`` if the service runs on this data folder."""
    settings = read_settings()
    lock = DataFolderLock(settings.data_dir)
    if not lock.take("command"):
        raise DomainError("configuration", f"Paraph is running on {settings.data_dir}. Stop it first.")
    server = None if settings.database_url else Server(settings.data_dir, settings.postgres_dir)
    try:
        if server:
            server.start()
        yield server.url if server else settings.database_url
        from django.db import connections

        connections.close_all()
    finally:
        if server:
            server.stop()
        lock.release()


@contextmanager
def _embedded_server(settings: Settings) -> Iterator[None]:
    server = Server(settings.data_dir, settings.postgres_dir)
    try:
        server.launch()
        set_up(tasks=False)
        server.wait()
        from paraph.database.migrations import migrate

        migrate()
        yield
        from django.db import connections

        connections.close_all()
    finally:
        server.stop()


@contextmanager
def _running_database() -> Iterator[None]:
    from django.db import OperationalError

    set_up(tasks=False)
    try:
        yield
    except OperationalError as error:
        raise DomainError("database", f"The database is not responding: {' '.join(str(error).split())}") from error


def log_start(command: str) -> None:
    """Name the process after its command, and log which version starts and how it is set up. Of the settings that are
    set, numbers and choices are logged with their values; of texts, only that they are set, because any of them may
    contain a secret."""
    settings = read_settings()
    machine.name_process(f"paraph-{command}")
    web_processes, worker_processes = settings.processes
    kind = settings.sealing_key.partition(":")[0].partition("+")[0]
    structlog.get_logger("paraph.start").info(
        "Paraph starts",
        command=command,
        version=__version__,
        python=platform.python_version(),
        database="own" if settings.database_url else "embedded",
        storage=urlsplit(settings.storage_url).scheme or "folder",
        sealing_key=kind if kind in ("pkcs11", "awskms", "arn", "csc") else "file" if kind else "development",
        confinement=settings.confinement,
        web_processes=web_processes,
        worker_processes=worker_processes,
        settings={variable(name): _shown(settings, name) for name in sorted(settings.model_fields_set)},
    )


def _shown(settings: Settings, name: str) -> Any:
    value = getattr(settings, name)
    if isinstance(value, PerHourAndDay):
        return str(value)
    chosen = get_origin(Settings.model_fields[name].annotation) is Literal
    return value if chosen or isinstance(value, int) else "set"


_START_SECONDS = 60
_COMMAND_SECONDS = 15


class DataFolderLock:
    """An advisory lock, which the kernel releases when its holder ends, even by a signal. The file names the holder:
    its process id, ``serve`` or ``command``, then ``starting`` or, once the database has its tables, ``ready``."""

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / "service.lock"
        try:
            data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            sentence = f"The data folder {data_dir} cannot be written: {error.strerror}."
            raise DomainError("configuration", sentence) from error

    def take(self, purpose: str) -> bool:
        """Take the lock for ``serve`` or ``command`` without waiting. Return whether this process holds it now."""
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        self._write(f"{os.getpid()} {purpose} starting\n")
        return True

    def take_for_service(self) -> None:
        """Take the lock, waiting 15 s for a command to end. Raise ``DomainError("configuration", …)`` when a service
        runs on this data folder."""
        deadline = time.monotonic() + _COMMAND_SECONDS
        while not self.take("serve"):
            pid, purpose, _ = self._holder()
            if purpose == "serve" or time.monotonic() > deadline:
                sentence = f"Paraph already runs on {self.path.parent.absolute()} (process {pid})."
                raise DomainError("configuration", sentence)
            time.sleep(0.1)

    def mark_ready(self) -> None:
        """Tell commands that the database can be used."""
        self._write(self.path.read_text().replace("starting", "ready"))

    def wait_until_ready(self) -> bool:
        """Wait for the holder to mark the lock ready. Return False when it released the lock instead, which may then
        be taken. Raise ``DomainError("configuration", …)`` after 60 s."""
        deadline = time.monotonic() + _START_SECONDS
        while self._holder()[2] != "ready":
            if self._is_free():
                return False
            if time.monotonic() > deadline:
                raise DomainError("configuration", f"The service on {self.path.parent} is still starting.")
            time.sleep(0.1)
        return True

    def release(self) -> None:
        os.truncate(self._handle, 0)
        os.close(self._handle)

    def _is_free(self) -> bool:
        try:
            fcntl.flock(self._handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        fcntl.flock(self._handle, fcntl.LOCK_UN)
        return True

    def _write(self, text: str) -> None:
        os.truncate(self._handle, 0)
        os.pwrite(self._handle, text.encode(), 0)

    def _holder(self) -> tuple[str, str, str]:
        words = self.path.read_text().split()
        return (words[0], words[1], words[2]) if len(words) == 3 else ("?", "?", "?")
