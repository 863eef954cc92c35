"""Places for those who wait for what may take long, shared fairly between parties (docs/decisions/fair-waiting.md)."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition

from paraph.kernel.recent_use import RecentUse
from paraph.kernel.recent_visits import RecentVisits

LITTLE = 8.0  # seconds of a processor, fading: a party that has used more has had its share for now
MUCH = 0.5  # of them, by what its threads have in hand: then it has had its share as well
LONG = 1.0  # seconds that somebody may hold a place before many who wait become a burden
AFTERMATH = 5.0  # seconds for which that is remembered: who was slow mostly is again

Told = Callable[[float, bool], object]


@dataclass(eq=False)
class Visit:
    """Of a thread. ``used``: seconds of a processor that its work takes, told by the thread as far as it knows.
    ``has_place``: False where there was none, which is known once :meth:`Places.come` returns; ``behind_long`` then
    says whether somebody held a place for long, or had lately."""

    party: str
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
        """What the block waits for is not the party's own work, which begins anew after it."""
        self.began = math.inf
        try:
            yield
        finally:
            self.begin()


class Places:
    """``count`` places, to be held by one thread each. The last free one is only for a party that holds none and has
    used little lately, so that no party ever has all. Of those who wait, whose party has used least is next. While
    others come as well, a party that has had its share holds at most ``share`` places, half of them by default.

    Nobody waits longer than ``seconds``. While somebody has held a place for longer than :data:`LONG`, or had lately,
    at most ``line`` wait, and of those who have had their share never more: of the party with most of those who wait,
    the last is turned away. ``told`` is called with
    the seconds that somebody has waited, and whether there was a place in the end; not for those who found one at once.
    """

    def __init__(
        self, count: int, seconds: float, line: int, told: Told | None = None, *, share: int | None = None
    ) -> None:
        self._count = count
        self._share = count // 2 if share is None else share
        self._seconds = seconds
        self._line = line
        self._told = told
        self._changed = Condition()
        self._was_long = -AFTERMATH  # when somebody was last seen to hold a place for long
        self._holding: list[Visit] = []
        self._waiting: list[Visit] = []  # in the order in which they came
        self._used = RecentUse()
        self._visits = RecentVisits()

    @contextmanager
    def place(self, party: str) -> Iterator[Visit]:
        """The visit says whether there was a place; the block runs either way."""
        visit = self.come(party)
        try:
            yield visit
        finally:
            self.leave(visit)

    def come(self, party: str) -> Visit:
        """Waits for a place. To be followed by :meth:`leave` also where there was none."""
        visit = Visit(party)
        visit.has_place = self._come(visit)
        return visit

    def leave(self, visit: Visit) -> None:
        """Ends a visit and charges its party with what it used, a place or not."""
        with self._changed:
            if visit.has_place:
                self._holding.remove(visit)
            self._used.add(visit.party, visit.used)
            self._changed.notify_all()

    def held(self) -> int:
        """How many places are taken at this moment."""
        return len(self._holding)

    def has_had_share(self, party: str) -> bool:
        """Whether it has used more than little lately, or does so at this moment, while others come as well: what it
        does then comes after what they do."""
        with self._changed:
            return self._had_share(party)

    def _come(self, visit: Visit) -> bool:
        with self._changed:
            self._visits.add(visit.party)
            if not self._waiting and self._room_for(visit.party):
                self._hold(visit)
                return True
            self._waiting.append(visit)
            try:
                mine = self._wait(visit)
            finally:
                self._waiting.remove(visit)
            if mine:
                self._hold(visit)
            else:
                visit.behind_long = not self._until_long()
            self._changed.notify_all()  # whoever is next now
        if self._told:
            self._told(time.monotonic() - visit.came, mine)
        return mine

    def _wait(self, visit: Visit) -> bool:
        while self._next() is not visit:
            self._keep_line_short()
            left = visit.came + self._seconds - time.monotonic()
            if visit.turned_away or left <= 0:
                return False
            self._changed.wait(min(left, self._until_long() or left))
        return True

    def _next(self) -> Visit | None:
        """Who of those who wait has a place now."""
        welcome = [visit for visit in self._waiting if not visit.turned_away and self._room_for(visit.party)]
        return min(welcome, key=lambda visit: self._use(visit.party), default=None)

    def _room_for(self, party: str) -> bool:
        free = self._count - len(self._holding)
        if self._count == 1:
            return free > 0
        held = sum(visit.party == party for visit in self._holding)
        if free == 1:
            return not held and self._used.of(party) < LITTLE
        return free > 0 and not (held >= self._share and self._had_share(party))

    def _had_share(self, party: str) -> bool:
        if not self._visits.of_others(party):
            return False
        at_hand = self._at_hand(party)
        return at_hand >= MUCH or self._used.of(party) + at_hand >= LITTLE

    def _at_hand(self, party: str) -> float:
        return sum(visit.used for visit in self._holding if visit.party == party)

    def _use(self, party: str) -> float:
        """What it used before, and how long its threads are at it: they tell late what these use."""
        now = time.monotonic()
        return self._used.of(party) + sum(max(0, now - visit.began) for visit in self._holding if visit.party == party)

    def _keep_line_short(self) -> None:
        line = [visit for visit in self._waiting if not visit.turned_away]
        if self._until_long():
            line = [visit for visit in line if self._had_share(visit.party)]
        while len(line) > self._line:
            lengths = Counter(visit.party for visit in line)
            longest = max(lengths, key=lambda party: (lengths[party], self._use(party)))
            last = next(visit for visit in reversed(line) if visit.party == longest)
            last.turned_away = True
            line.remove(last)
            self._changed.notify_all()

    def _until_long(self) -> float:
        """Seconds until somebody has held a place for long; 0 where that is so, or was lately."""
        now = time.monotonic()
        left = min((visit.began for visit in self._holding), default=now) + LONG - now
        if left <= 0:
            self._was_long = now
        return 0.0 if now < self._was_long + AFTERMATH else left

    def _hold(self, visit: Visit) -> None:
        visit.begin()
        self._holding.append(visit)
