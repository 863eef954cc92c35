"""A real ``paraph serve`` for the scenarios, with workers and a port. Nothing is patched."""

from pathlib import Path

import pytest

import tests.cli.service
from paraph.keys.development import root_file


class Service(tests.cli.service.Service):
    """The running service, and what an operator can do with it."""

    @property
    def url(self) -> str:
        return self.base_url

    def new_key(self, plan: str = "free", environment: str = "sandbox") -> str:
        """Return the API key of a new application of a new organization."""
        return str(self.new_application(plan, environment)["api_key"])

    @property
    def root_pem(self) -> Path:
        return root_file(self.data_dir / "keys")


@pytest.fixture(scope="session")
def service(shared_service: tests.cli.service.Service) -> Service:
    """Return the shared service: its high rate limit leaves room for tests that poll on a busy machine."""
    return Service.like(shared_service)
