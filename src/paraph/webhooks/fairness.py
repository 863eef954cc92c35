"""Who may send next: a dead endpoint delays nobody."""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

AT_ONCE = 16
AT_ONCE_IN_TROUBLE = 8


@dataclass(frozen=True)
class EndpointLoad:
    """``due`` deliveries of an endpoint could be sent now, ``sending`` are. In ``trouble`` is who has failed
    at one that is still to be delivered."""

    endpoint: str
    due: int
    sending: int
    trouble: bool


def shares(loads: Iterable[EndpointLoad], free: int, free_for_trouble: int) -> dict[str, int]:
    """How many deliveries of each endpoint to start, ``free`` in all, of which ``free_for_trouble`` to endpoints
    in trouble. One slot at a time goes to whoever has the fewest, so a long backlog waits for its own endpoint."""
    loads = list(loads)
    healthy = [load for load in loads if not load.trouble]
    troubled = [load for load in loads if load.trouble]
    given = _deal(healthy, free, AT_ONCE)
    left = min(free - sum(given.values()), free_for_trouble)
    return given | _deal(troubled, left, AT_ONCE_IN_TROUBLE)


def _deal(loads: list[EndpointLoad], free: int, at_once: int) -> dict[str, int]:
    given: dict[str, int] = {}
    queue = [(load.sending, load.endpoint, min(load.due, at_once - load.sending)) for load in loads]
    heapq.heapify(queue)
    while queue and free > 0:
        busy, endpoint, wanted = heapq.heappop(queue)
        if wanted <= 0:
            continue
        given[endpoint] = given.get(endpoint, 0) + 1
        free -= 1
        heapq.heappush(queue, (busy + 1, endpoint, wanted - 1))
    return given
