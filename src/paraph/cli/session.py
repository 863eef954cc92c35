"""What a command needs before it can work: settings, and a database with its tables."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from paraph.cli.lock import DataFolderLock
from paraph.kernel import environment
from paraph.kernel.errors import DomainError
from paraph.postgres import Server


def set_up() -> None:
    """Sets Django up. What it imports takes most of a second: only commands that need it call this."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "paraph.config.settings")
    django.setup()


@contextmanager
def database() -> Iterator[None]:
    """Django set up and its database within reach, whether or not the service runs: without one, the embedded
    server runs for as long as the command does. Raises ``DomainError``."""
    settings = environment.read()
    if settings.database_url:
        set_up()
        with _sentences():
            yield
        return
    lock = DataFolderLock(settings.data_dir)
    while True:
        if lock.take("command"):
            with _own_server(settings):
                yield
            lock.release()
            return
        if lock.wait_until_ready():
            set_up()
            with _sentences():
                yield
            return


@contextmanager
def _own_server(settings: environment.Environment) -> Iterator[None]:
    server = Server(settings.data_dir, settings.postgres_dir)
    try:
        server.launch()
        set_up()
        server.wait()
        from paraph.cli.migrate import migrate

        migrate()
        yield
        from django.db import connections

        connections.close_all()
    finally:
        server.stop()


@contextmanager
def _sentences() -> Iterator[None]:
    from django.db import OperationalError

    try:
        yield
    except OperationalError as error:
        raise DomainError("database", f"The database does not answer: {' '.join(str(error).split())}") from error
