"""How much each party has used lately of what is shared."""

import math
import time

_HALF_LIFE = 60.0  # seconds after which what was used counts half
_NOTHING = 0.01
_MANY = 1000


class RecentUse:
    """In seconds of use, which fade. Used by one thread at a time."""

    def __init__(self) -> None:
        self._used: dict[str, tuple[float, float]] = {}  # how much, and when it was that much
        self._many = _MANY

    def of(self, party: str) -> float:
        used, then = self._used.get(party, (0.0, 0.0))
        return used * math.exp2((then - time.monotonic()) / _HALF_LIFE)

    def add(self, party: str, seconds: float) -> None:
        if not seconds:
            return
        self._used[party] = (self.of(party) + seconds, time.monotonic())
        if len(self._used) > self._many:
            self._used = {each: used for each, used in self._used.items() if self.of(each) > _NOTHING}
            self._many = _MANY + 2 * len(self._used)
