"""What tests of the log have in common."""

import pytest

from paraph.flow.sealing.context import sealing_context


@pytest.fixture(autouse=True)
def keys_of_the_run() -> None:
    """Opens the keys before ``data_dir`` names another folder: a process keeps them for all of its tests."""
    for environment in ("production", "sandbox"):
        sealing_context().keys(environment)
