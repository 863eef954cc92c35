"""The owner of what the tests of the API look at."""

from typing import Any

import pytest

from tests.api.v1.api_clients import ApiClient, api_client, payload


@pytest.fixture
def owner(db: None) -> ApiClient:
    """A sandbox key of an organization on the Pro plan."""
    return api_client()


@pytest.fixture
def document(owner: ApiClient) -> int:
    return owner.document()


@pytest.fixture
def content(document: int) -> dict[str, Any]:
    """Return the fields of a creation, which stand under its root key."""
    return payload(document)
