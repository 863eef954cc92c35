"""A pytest plugin, loaded before Django: one embedded PostgreSQL for the run, in a folder thrown away after it."""

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
