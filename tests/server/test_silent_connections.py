"""Which of too many connections go: the longest idle, and none that is at work."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from paraph.server.connections import Connection
from paraph.server.silent_connections import PER_ADDRESS, too_many

OLD, NEW = 10.0, 0.5


@pytest.fixture
def connect() -> Iterator[Any]:
    """Makes what the kernel would tell of a connection: by default one that never said anything."""
    with socket.socket() as unused:

        def make(address: str = "203.0.113.9", silent: float = OLD, **more: Any) -> Connection:
            made.append(None)
            facts: dict[str, Any] = {"answered": silent, "received": 0, "ever": False, "taken": 0, "untaken": 0, **more}
            return Connection(f"{address} {len(made)}", address, silent=silent, _socket=unused, **facts)

        made: list[None] = []
        yield make


def test_an_address_keeps_its_share(connect: Any) -> None:
    few = [connect() for _ in range(PER_ADDRESS)]
    assert too_many(few, 1000) == []
    more = [connect(silent=OLD + 1 + number) for number in range(3)]
    assert too_many([*more, *few], 1000) == more[::-1]


def test_addresses_have_a_share_each(connect: Any) -> None:
    found = [connect(f"203.0.113.{number % 200}") for number in range(200 * PER_ADDRESS)]
    assert too_many(found, len(found)) == []


def test_an_ipv6_network_is_one_address(connect: Any) -> None:
    found = [connect(f"2001:db8:1:2::{number:x}") for number in range(PER_ADDRESS + 5)]
    assert len(too_many(found, 1000)) == 5


def test_what_is_at_work_stays(connect: Any) -> None:
    asking = [connect(received=100, answered=OLD + 1) for _ in range(PER_ADDRESS)]
    asking += [connect(received=100, answered=5.0, silent=3.0, ever=True) for _ in range(10)]
    told = [connect(received=100, answered=OLD, silent=OLD + 1, ever=True, untaken=1) for _ in range(10)]
    young = [connect(silent=NEW) for _ in range(10)]
    again = [connect(received=100, answered=OLD, silent=OLD, ever=True) for _ in range(10)]  # asked as it was answered
    idle = [connect(received=100, answered=OLD, silent=OLD + since, ever=True) for since in (2, 1)]
    assert too_many([*asking, *told, *young, *again, *idle], 10) == idle


def test_a_trusted_proxy_has_any_number(connect: Any, settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"trusted_proxies": ["10.0.0.0/8"]})
    found = [connect("10.0.0.7") for _ in range(10 * PER_ADDRESS)]
    assert too_many(found, 100) == []
    strangers = [connect(f"203.0.113.{number}") for number in range(150)]
    assert too_many([*found, *strangers], 700) == strangers[:90]


def test_where_all_are_too_many_the_longest_idle_go(connect: Any) -> None:
    found = [connect(f"203.0.113.{number}", silent=OLD + number) for number in range(100)]
    assert too_many(found, 97) == found[:-4:-1]
