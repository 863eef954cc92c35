"""What tests of the sandbox share."""

from collections.abc import Iterator

import pytest

from paraph.pdf.untrusted.sandbox import Sandbox


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """One process reads everything."""
    pool = Sandbox(1)
    yield pool
    pool.close()
