"""The faults that befall the hosts while people sign."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import psycopg

from lab.hosts.machine import PATIENCE, Machine
from lab.hosts.place import Place
from tests.cli.service import wait_until

_REFUSAL = "The secret key of this machine is not that of the installation"
_TAKEOVER_SECONDS = 16  # after which others take over the jobs of a silent host
_FORGOTTEN_SECONDS = 40  # after which the database has dropped its sessions: 30, and more on a busy machine


def play(place: Place, key: str, wait_for_flows: Callable[[str], None], *, whole: bool) -> None:
    """Let the faults befall the hosts one after the other. ``wait_for_flows`` is told of each, and returns once further
    requests were made and signed after it. ``whole``: also the faults that the short form leaves out."""
    wait_for_flows("two hosts work")
    one, two = place.machines
    _refuse_a_stranger(one, "worker", *(["web"] if whole else []))
    with _nobody_notices(place, key):
        for machine in [one, two] if whole else [one]:
            _roll(place, machine)
            wait_for_flows(f"host {machine.host.name} ended and came back")
    _pull(place, one, wait_for_flows)
    two.kill()
    wait_for_flows("host two was killed")
    if whole:
        two.start()
        _return(place, two)
        wait_for_flows("host two came back")
    assert all(machine.is_whole() for machine in (place.machines if whole else [one])), "a process ended by itself"


def _refuse_a_stranger(machine: Machine, *commands: str) -> None:
    """Assert that a host with another secret key neither serves nor works."""
    strange = {"PARAPH_SECRET_KEY": "o" * 40, "PARAPH_PORT": "8001"}
    begun = [machine.begin(command, **strange) for command in commands]
    assert {process.wait(PATIENCE) for process in begun} == {1}
    assert machine.log.read_text().count(_REFUSAL) == len(begun)


def _roll(place: Place, machine: Machine) -> None:
    """End the machine, which serves for a while and says in ``/readyz`` that it ends, and start it again."""
    machine.terminate()
    wait_until(lambda: machine.answer("/readyz") == 503, 8)
    assert machine.answer("/healthz") == 503
    assert set(machine.ended()) == {0}
    assert machine.answer("/healthz") == 0
    machine.start()
    _return(place, machine)


def _pull(place: Place, machine: Machine, wait_for_flows: Callable[[str], None]) -> None:
    """Pull the cable for so long that others take over the machine's jobs; plugged in, it recovers by itself."""
    machine.host.pull()
    taken_over = time.monotonic() + _TAKEOVER_SECONDS
    wait_until(lambda: not place.balancer.names(machine.host), PATIENCE)
    wait_for_flows(f"the cable of host {machine.host.name} was pulled")
    wait_until(lambda: not _sessions(place, machine), _FORGOTTEN_SECONDS)
    time.sleep(max(0, taken_over - time.monotonic()))
    machine.host.plug()
    _return(place, machine)
    wait_for_flows("it was plugged in again")


def _sessions(place: Place, machine: Machine) -> int:
    """Return how many sessions the database keeps for a host: each still has its locks."""
    with psycopg.connect(place.database) as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE client_addr = %s::inet", [machine.host.address]
        )
        return int(found.fetchone()[0])  # type: ignore[index]


def _return(place: Place, machine: Machine) -> None:
    machine.wait()
    wait_until(lambda: place.balancer.names(machine.host), PATIENCE)


@contextmanager
def _nobody_notices(place: Place, key: str) -> Iterator[None]:
    """Assert that a client that never repeats a call gets every answer meanwhile."""
    over, noticed = threading.Event(), []

    def call() -> None:
        with httpx.Client(headers={"X-Api-Key": key}, timeout=60) as client:
            while not over.wait(0.1):
                try:
                    answer = client.get(f"{place.url}/api/v1/signature_requests?limit=1")
                    noticed.extend([] if answer.status_code == 200 else [f"{answer.status_code} {answer.text}"])
                except httpx.HTTPError as error:
                    noticed.append(repr(error))

    scope = threading.Thread(target=call)
    scope.start()
    try:
        yield
    finally:
        over.set()
        scope.join()
    assert not noticed, noticed
