"""A pytest plugin, loaded before Django: one embedded PostgreSQL for the run, and for each process of the run a data
folder of its own (some tests take theirs away for a moment); all thrown away at the end."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from paraph.postgres import Server

_OWNER = "PARAPH_TEST_DATABASE_OWNER"  # only the process that started the server stops it (pytest-xdist)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    if os.environ.get(_OWNER):
        if worker := os.environ.get("PYTEST_XDIST_WORKER"):
            _have_own_folder(worker)
        return
    folder = Path(tempfile.mkdtemp(prefix="paraph-tests-"))
    server = Server(folder)
    server.start()
    os.environ[_OWNER] = str(os.getpid())
    os.environ["PARAPH_DATA_DIR"] = str(folder)

    def clean() -> None:
        server.stop()
        shutil.rmtree(server.location.home, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)

    early_config.add_cleanup(clean)


def _have_own_folder(worker: str) -> None:
    """The database server stays that of the run. (A link says so, and no ``DATABASE_URL``: the services that tests
    start would inherit it, and work off each other's jobs.)"""
    shared = Path(os.environ["PARAPH_DATA_DIR"])
    if shared.name == worker:
        return
    own = shared / worker
    own.mkdir(exist_ok=True)
    (own / "postgres").symlink_to((shared / "postgres").resolve())
    os.environ["PARAPH_DATA_DIR"] = str(own)
