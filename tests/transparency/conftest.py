"""Fixtures for all tests of the log."""

import pytest

from paraph.flow.sealing.context import sealing_context


@pytest.fixture(autouse=True)
def keys_of_the_run() -> None:
    """Open the keys before ``data_dir`` names another folder: a process keeps them for all of its tests."""
    for environment in ("production", "sandbox"):
        sealing_context().keys(environment)
