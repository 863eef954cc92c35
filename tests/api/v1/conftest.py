"""The owner of what the tests of the API look at."""

import pytest

from tests.api.v1.api_clients import ApiClient, api_client


@pytest.fixture
def owner(db: None) -> ApiClient:
    """A sandbox key of an organization on the Pro plan."""
    return api_client()
