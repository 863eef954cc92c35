"""What is read and used as by its users: a real service, with workers and a port. Nothing is patched."""

import pytest

from tests.cli.service import Service


@pytest.fixture(scope="session")
def service(shared_service: Service) -> Service:
    return shared_service
