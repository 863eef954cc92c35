"""A pytest plugin, loaded before Django: one embedded PostgreSQL for the run, and a data folder for each process of
the run (some tests move theirs away for a moment); all are removed at the end."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import psycopg
import pytest

from paraph.postgres import Server
from tests import first_start

_OWNER = "PARAPH_TEST_DATABASE_OWNER"  # only the process that started the server stops it (pytest-xdist)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    if os.environ.get(_OWNER):
        if worker := os.environ.get("PYTEST_XDIST_WORKER"):
            _have_own_folder(worker)
        return
    _keep_bytecode()
    folder = Path(tempfile.mkdtemp(prefix="paraph-tests-"))
    server = Server(folder)
    server.start()
    with psycopg.connect(server.url, autocommit=True) as connection:  # nobody needs the data after a crash
        connection.execute("ALTER ROLE CURRENT_USER SET synchronous_commit = off")
    os.environ[_OWNER] = str(os.getpid())
    os.environ["PARAPH_DATA_DIR"] = str(folder)
    os.environ[first_start.FOLDER] = tempfile.mkdtemp(prefix="paraph-tests-first-")

    def clean() -> None:
        first_start.remove(Path(os.environ[first_start.FOLDER]))
        server.stop()
        shutil.rmtree(server.location.home, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)

    early_config.add_cleanup(clean)


def _keep_bytecode() -> None:
    """Hundreds of processes import the service, and compiling it takes each half a second. Containers often keep Python
    from writing bytecode."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


def _have_own_folder(worker: str) -> None:
    """Give the worker a data folder with the database server of the run. A link leads there, not a ``DATABASE_URL``:
    the services that tests start would inherit that, and do each other's jobs."""
    shared = Path(os.environ["PARAPH_DATA_DIR"])
    if shared.name == worker:
        return
    own = shared / worker
    own.mkdir(exist_ok=True)
    (own / "postgres").symlink_to((shared / "postgres").resolve())
    os.environ["PARAPH_DATA_DIR"] = str(own)
