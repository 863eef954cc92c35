"""Sharing the slots of a worker between endpoints, so that a dead endpoint delays no other."""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

AT_ONCE = 16
AT_ONCE_IN_TROUBLE = 8


@dataclass(frozen=True)
class EndpointLoad:
    """The load of an endpoint: ``due`` deliveries wait, ``sending`` are under way. An endpoint is in ``trouble`` while
    a delivery to it has failed and is not delivered yet."""

    endpoint: str
    due: int
    sending: int
    trouble: bool


def shares(loads: Iterable[EndpointLoad], free: int, free_for_trouble: int) -> dict[str, int]:
    """Returns how many deliveries to start for each endpoint: at most ``free`` in all, of them ``free_for_trouble`` to
    endpoints in trouble. Each slot goes to the endpoint with the fewest, so that a long backlog delays its own only."""
    loads = list(loads)
    healthy = [load for load in loads if not load.trouble]
    troubled = [load for load in loads if load.trouble]
    dealt = _deal(healthy, free, AT_ONCE)
    left = min(free - sum(dealt.values()), free_for_trouble)
    return dealt | _deal(troubled, left, AT_ONCE_IN_TROUBLE)


def _deal(loads: list[EndpointLoad], free: int, at_once: int) -> dict[str, int]:
    dealt: dict[str, int] = {}
    queue = [(load.sending, load.endpoint, min(load.due, at_once - load.sending)) for load in loads]
    heapq.heapify(queue)
    while queue and free > 0:
        busy, endpoint, wanted = heapq.heappop(queue)
        if wanted <= 0:
            continue
        dealt[endpoint] = dealt.get(endpoint, 0) + 1
        free -= 1
        heapq.heappush(queue, (busy + 1, endpoint, wanted - 1))
    return dealt
