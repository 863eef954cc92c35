"""A real ``paraph serve`` for the scenarios: its own data folder, database, workers and port. Nothing is patched."""

import json
from pathlib import Path
from typing import Any

import pytest

import tests.cli.service
from paraph.keys.development import root_file
from tests import first_start
from tests.cli import forked
from tests.cli.service import clean_environment, several
from tests.started_service import StartedService


class Service(StartedService):
    """The running service, and what an operator can do with it."""

    def start(self) -> None:
        """On a copy of what a first start leaves."""
        first_start.copy(self.data_dir)
        super().start()

    def new_key(self, plan: str = "free", environment: str = "sandbox", *more: str) -> str:
        """The API key of a new application of a new organization."""
        return str(self.new_application(plan, environment, *more)["api_key"])

    def new_application(self, plan: str, environment: str, *more: str) -> dict[str, Any]:
        """``id``, ``api_key`` and ``webhook_secret``; ``more`` are further options of the command."""
        options = ["--organization", "{id}", "--environment", environment, "--name", "Backend", *more]
        wanted = [["organization", "create", "Acme", "--plan", plan], ["application", "create", *options]]
        application: dict[str, Any] = several(wanted, clean_environment(self.data_dir))[-1]
        return application

    def operate(self, *arguments: str) -> Any:
        done = forked.run("paraph", *arguments, "--json", environment=clean_environment(self.data_dir))
        done.check_returncode()
        return json.loads(done.stdout)

    def inbox(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.operate("inbox")
        return messages

    @property
    def root_pem(self) -> Path:
        return root_file(self.data_dir / "keys")


@pytest.fixture(scope="session")
def service(shared_service: tests.cli.service.Service) -> Service:
    """With room for tests that ask again and again: on a busy machine they would meet the rate limit."""
    running = Service(shared_service.data_dir)
    running.url = shared_service.base_url
    return running
