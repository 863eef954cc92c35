"""The organization that members are of."""

import pytest

from paraph.tenants.models import Organization
from tests.tenancy import create_organization


@pytest.fixture
def organization(db: None) -> Organization:
    return create_organization("Analytical Engines", "pro")
