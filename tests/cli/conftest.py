"""A running service for the tests of the command line."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.own_postgresql import OwnPostgresql
from tests.cli.service import SMALL, Service, remove


@pytest.fixture
def new_service(tmp_path: Path) -> Iterator[Callable[..., Service]]:
    """Make services that are not started; afterwards stop and remove them."""
    made: list[Service] = []

    def make(**settings: str) -> Service:
        made.append(Service(tmp_path / "data", **SMALL, **settings))
        return made[-1]

    yield make
    for service in made:
        if service.process and service.process.poll() is None:
            service.stop()
    remove(tmp_path / "data")


@pytest.fixture(scope="session")
def service(shared_service: Service) -> Service:
    """A running service."""
    return shared_service


@pytest.fixture
def own() -> Iterator[OwnPostgresql]:
    """A PostgreSQL of the test's own, created and not yet started."""
    server = OwnPostgresql()
    server.create()
    yield server
    server.remove()
