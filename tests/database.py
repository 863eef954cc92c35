"""A pytest plugin, loaded before Django: one embedded PostgreSQL for the run, and for each process of the run a data
folder of its own (some tests take theirs away for a moment); all thrown away at the end."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from paraph.postgres import Server, embedded_url

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
        shutil.rmtree(server.place.home, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)

    early_config.add_cleanup(clean)


def _have_own_folder(worker: str) -> None:
    """The database server stays that of the run."""
    shared = Path(os.environ["PARAPH_DATA_DIR"])
    if shared.name == worker:
        return
    os.environ["DATABASE_URL"] = embedded_url(shared, None)
    os.environ["PARAPH_DATA_DIR"] = str(shared / worker)
