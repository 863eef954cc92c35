"""The owner of what the tests of the API look at."""

import pytest

from tests.api.v1.cast import Someone, someone


@pytest.fixture
def owner(db: None) -> Someone:
    """A sandbox key of an organization on the Pro plan."""
    return someone()
