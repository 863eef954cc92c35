"""Machines behind a balancer, each with ``paraph web`` and ``paraph worker`` that are ended and started anew."""

import itertools
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.cli.service import wait_until
from tests.operations.apart import Parts

_PATIENCE = 180  # s, of machines that run tests
_COMMANDS = ("web", "worker")


class Machines:
    """Each call goes to the next machine that serves: what one has made, another is asked for."""

    def __init__(self, machines: list[Parts]) -> None:
        self.all = machines
        self._serving: list[Parts] = []
        self._turn = itertools.count()

    def call(self, method: str, url: str, client: httpx.Client | None = None, **what: Any) -> httpx.Response:
        """``url``: a path, or the address that the service told."""
        serving = self._serving
        path = urlsplit(url)._replace(scheme="", netloc="").geturl()
        address = serving[next(self._turn) % len(serving)].url + path
        return (client.request if client else httpx.request)(method, address, timeout=60, **what)

    def start(self, machine: Parts, **settings: str) -> None:
        """Returns once it serves."""
        for command in _COMMANDS:
            machine.start(command, **settings)
        wait_until(lambda: _is_ready(machine), _PATIENCE)
        self._serving = [*self._serving, machine]

    def restart(self, machine: Parts, **settings: str) -> None:
        """Calls at hand are answered, and jobs done, before it ends."""
        self._serving = [other for other in self._serving if other is not machine]
        assert [machine.end(command)[0] for command in _COMMANDS] == [0, 0]
        self.start(machine, **settings)

    def logs(self) -> list[str]:
        return [machine.log(command) for machine in self.all for command in _COMMANDS]

    def remove(self) -> None:
        for machine in self.all:
            machine.remove()


def _is_ready(machine: Parts) -> bool:
    try:
        return httpx.get(f"{machine.url}/readyz", timeout=30).status_code == 200
    except httpx.TransportError:
        return False
