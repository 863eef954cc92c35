"""Idle connections are closed where there are too many (docs/decisions/silent-connections.md)."""

from collections import defaultdict
from collections.abc import Sequence

from paraph.server.client_address import guarded_network, is_trusted
from paraph.server.connections import Connection

PER_ADDRESS = 64  # connections of one address (of an IPv6 network of 64 bits); proxies that are trusted have any number
IDLE = 1.0  # seconds without a question after which a connection is idle


def too_many(connections: Sequence[Connection], most: int) -> list[Connection]:
    """Returns the connections to close: those idle for longest of each address that has more than PER_ADDRESS, and
    of all where more than ``most`` are left. One with a request or a response under way is never among them."""
    by_network: dict[str, list[Connection]] = defaultdict(list)
    for each in connections:
        if not is_trusted(each.address):
            by_network[guarded_network(each.address)].append(each)
    surplus = [each for found in by_network.values() for each in _longest_idle(found, len(found) - PER_ADDRESS)]
    left = len(connections) - len(surplus) - most
    if left > 0:
        gone = {each.name for each in surplus}
        others = [each for found in by_network.values() for each in found if each.name not in gone]
        surplus += _longest_idle(others, left)
    return surplus


def _longest_idle(connections: Sequence[Connection], number: int) -> list[Connection]:
    if number <= 0:
        return []
    return sorted((each for each in connections if each.idle > IDLE), key=lambda each: -each.idle)[:number]
