"""A semaphore that shares its places fairly among tenants (docs/decisions/fair-waiting.md)."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition

from paraph.kernel.recent_use import RecentUse
from paraph.kernel.recent_visits import RecentVisits

LITTLE = 8.0  # seconds of a processor, fading: a tenant that has used more has had its share for now
MUCH = 0.5  # of them, by what its threads have in hand: then it has had its share as well
LONG = 1.0  # seconds that somebody may hold a place, or work in it, before many who wait become a burden
TOLD_EVERY = 0.25  # seconds after which somebody who works tells again what it has used
AFTERMATH = 5.0  # seconds for which that is remembered: who was slow mostly is again

Told = Callable[[float, bool], object]


@dataclass(eq=False)
class Lease:
    """A thread's claim on a place.

    ``used``: processor seconds of its work, told by the thread as far as it knows. ``has_place``: False where there was
    none, which is known once :meth:`FairSemaphore.come` returns; ``behind_long`` then says whether somebody held a
    place for long, or had lately."""

    tenant_key: str
    used: float = 0.0
    has_place: bool = False
    behind_long: bool = False
    came: float = field(default_factory=time.monotonic)
    began: float = 0.0
    turned_away: bool = False

    def begin(self) -> None:
        self.began = time.monotonic()

    @contextmanager
    def no_work(self) -> Iterator[None]:
        """Leave out the block, in which the tenant's own work rests; it begins anew after it."""
        self.began = math.inf
        try:
            yield
        finally:
            self.begin()


class FairSemaphore:
    """Hold ``count`` places, for one thread each.

    The last free one is only for a tenant that holds none and has used little lately, so that no tenant ever has all.
    Of those who wait, whoever's tenant has used least is next. While others come as well, a tenant that has had its
    share holds at most ``share`` places, half of them by default.

    Nobody waits longer than ``seconds``; while nobody else comes, ``alone`` at most. While somebody has held a place
    for longer than :data:`LONG`, or had lately, at most ``line`` wait, ``line_alone`` while nobody else comes, and of
    those who have had their share never more: of the tenant with most of those who wait, the last is turned away.
    ``by_work``: what counts is the processor time that holders tell, since a busy machine makes everybody hold a place
    for long.
    ``told`` is called with the seconds that somebody has waited, and whether there was a place in the end; not for
    those who found one at once.
    """

    def __init__(
        self,
        count: int,
        seconds: float,
        line: int,
        told: Told | None = None,
        *,
        share: int | None = None,
        alone: float | None = None,
        line_alone: int | None = None,
        by_work: bool = False,
    ) -> None:
        self._count = count
        self._share = count // 2 if share is None else share
        self._seconds = seconds
        self._alone = seconds if alone is None else alone
        self._by_work = by_work
        self._line = line
        self._line_alone = line if line_alone is None else line_alone
        self._told = told
        self._changed = Condition()
        self._was_long = -AFTERMATH  # when somebody was last seen to hold a place for long
        self._holding: list[Lease] = []
        self._waiting: list[Lease] = []  # in the order in which they came
        self._used = RecentUse()
        self._visits = RecentVisits()

    @contextmanager
    def place(self, tenant_key: str) -> Iterator[Lease]:
        """Take a place; the lease says whether there was one. The block runs either way."""
        lease = self.come(tenant_key)
        try:
            yield lease
        finally:
            self.leave(lease)

    def come(self, tenant_key: str) -> Lease:
        """Wait for a place. To be followed by :meth:`leave` also where there was none."""
        lease = Lease(tenant_key)
        lease.has_place = self._come(lease)
        return lease

    def leave(self, lease: Lease) -> None:
        """End a lease and charge its tenant with what it used, a place or not."""
        with self._changed:
            if lease.has_place:
                self._holding.remove(lease)
            self._used.add(lease.tenant_key, lease.used)
            self._changed.notify_all()

    def held(self) -> int:
        """Return how many places are taken at this moment."""
        return len(self._holding)

    def has_had_share(self, tenant_key: str) -> bool:
        """Return whether it has used more than little lately, or does so at this moment, while others come as well:
        what it does then comes after what they do."""
        with self._changed:
            return self._had_share(tenant_key)

    def _come(self, lease: Lease) -> bool:
        with self._changed:
            self._visits.add(lease.tenant_key)
            if not self._waiting and self._room_for(lease.tenant_key):
                self._hold(lease)
                return True
            self._waiting.append(lease)
            try:
                mine = self._wait(lease)
            finally:
                self._waiting.remove(lease)
            if mine:
                self._hold(lease)
            else:
                lease.behind_long = not self._until_long()
            self._changed.notify_all()  # whoever is next now
        if self._told:
            self._told(time.monotonic() - lease.came, mine)
        return mine

    def _wait(self, lease: Lease) -> bool:
        while self._next() is not lease:
            self._keep_line_short()
            alone = not self._visits.of_others(lease.tenant_key)
            left = lease.came + (self._alone if alone else self._seconds) - time.monotonic()
            if lease.turned_away or left <= 0:
                return False
            until_next_look = TOLD_EVERY if alone else left  # whether others came meanwhile, who need not wait
            self._changed.wait(min(left, self._until_long() or until_next_look))
        return True

    def _next(self) -> Lease | None:
        """Return who of those who wait has a place now."""
        welcome = [lease for lease in self._waiting if not lease.turned_away and self._room_for(lease.tenant_key)]
        return min(welcome, key=lambda lease: self._use(lease.tenant_key), default=None)

    def _room_for(self, tenant_key: str) -> bool:
        free = self._count - len(self._holding)
        if self._count == 1:
            return free > 0
        held = sum(lease.tenant_key == tenant_key for lease in self._holding)
        if free == 1:
            return not held and self._used.of(tenant_key) < LITTLE
        return free > 0 and not (held >= self._share and self._had_share(tenant_key))

    def _had_share(self, tenant_key: str) -> bool:
        if not self._visits.of_others(tenant_key):
            return False
        at_hand = self._at_hand(tenant_key)
        return at_hand >= MUCH or self._used.of(tenant_key) + at_hand >= LITTLE

    def _at_hand(self, tenant_key: str) -> float:
        return sum(lease.used for lease in self._holding if lease.tenant_key == tenant_key)

    def _use(self, tenant_key: str) -> float:
        """Return what it used before, and how long its threads are at it: they tell late what these use."""
        now = time.monotonic()
        return self._used.of(tenant_key) + sum(
            max(0, now - lease.began) for lease in self._holding if lease.tenant_key == tenant_key
        )

    def _keep_line_short(self) -> None:
        line = [lease for lease in self._waiting if not lease.turned_away]
        if self._until_long():
            line = [lease for lease in line if self._had_share(lease.tenant_key)]
        alone = line and not self._visits.of_others(line[0].tenant_key)
        while len(line) > (self._line_alone if alone else self._line):
            lengths = Counter(lease.tenant_key for lease in line)
            longest = max(lengths, key=lambda tenant_key: (lengths[tenant_key], self._use(tenant_key)))
            last = next(lease for lease in reversed(line) if lease.tenant_key == longest)
            last.turned_away = True
            line.remove(last)
            self._changed.notify_all()

    def _until_long(self) -> float:
        """Return the seconds until somebody may have held a place for long; 0 where that is so, or was lately."""
        now = time.monotonic()
        left = LONG - max((lease.used if self._by_work else now - lease.began for lease in self._holding), default=0.0)
        if left <= 0:
            self._was_long = now
        return 0.0 if now < self._was_long + AFTERMATH else max(left, TOLD_EVERY) if self._by_work else left

    def _hold(self, lease: Lease) -> None:
        lease.begin()
        self._holding.append(lease)
