"""A semaphore of whose places no tenant ever has all (docs/decisions/fair-waiting.md)."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition

from paraph.kernel.errors import DomainError

PATIENCE_SECONDS = 2.0
_BUSY = "The service is too busy for this at the moment. Try again in a few seconds."

Told = Callable[[float, bool], object]


class NoPlaceError(DomainError):
    """All places are taken; whoever asked may try again in a few seconds."""

    def __init__(self, message: str = _BUSY) -> None:
        super().__init__("unavailable", message)


class FairSemaphore:
    """Hold ``count`` places for threads, for one tenant at most half of them (one at least).

    At most ``crowd`` threads hold a place or wait for one, ``crowd_of_one`` on behalf of one tenant: who comes beyond
    finds none. Nobody waits longer than two seconds. Of those who wait, whoever's tenant holds fewest is next. The
    tenant ``""``, on whose behalf commands and workers act, is bounded by the count alone. ``told`` is called with the
    seconds that a thread waited and whether there was a place in the end, not for one that found it at once.
    """

    def __init__(self, count: int, crowd: int, crowd_of_one: int, told: Told | None = None) -> None:
        self._count = count
        self._crowd, self._crowd_of_one = crowd, crowd_of_one
        self._told = told
        self._changed = Condition()
        self._held: list[str] = []  # the tenant of each place that is taken
        self._waiting: list[list[str]] = []  # the same of those who wait, each in a list of its own to tell them apart

    @contextmanager
    def place(self, tenant_key: str) -> Iterator[None]:
        """Hold a place for the block. Raises :class:`NoPlaceError`."""
        self._take(tenant_key)
        try:
            yield
        finally:
            with self._changed:
                self._held.remove(tenant_key)
                self._changed.notify_all()

    def held(self) -> int:
        """Return how many places are taken at this moment."""
        return len(self._held)

    def _take(self, tenant_key: str) -> None:
        came, mine = time.monotonic(), [tenant_key]
        with self._changed:
            crowded = self._is_crowded(tenant_key)
            self._waiting.append(mine)
            try:
                at_once = self._next() is mine
                served = at_once or (
                    not crowded and self._changed.wait_for(lambda: self._next() is mine, PATIENCE_SECONDS)
                )
            finally:
                self._waiting = [each for each in self._waiting if each is not mine]
            if served:
                self._held.append(tenant_key)
            self._changed.notify_all()  # for whoever is next now
        if self._told and not at_once:
            self._told(time.monotonic() - came, served)
        if not served:
            raise NoPlaceError

    def _is_crowded(self, tenant_key: str) -> bool:
        there = [*self._held, *(name for [name] in self._waiting)]
        return len(there) >= self._crowd or (bool(tenant_key) and there.count(tenant_key) >= self._crowd_of_one)

    def _next(self) -> list[str] | None:
        ready = (each for each in self._waiting if self._has_room(each[0]))
        return min(ready, key=lambda each: self._held.count(each[0]), default=None)

    def _has_room(self, tenant_key: str) -> bool:
        is_within_share = not tenant_key or self._held.count(tenant_key) < max(1, self._count // 2)
        return len(self._held) < self._count and is_within_share
