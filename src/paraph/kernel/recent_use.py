"""The recent use of a shared resource, by tenant."""

import math
import time

_HALF_LIFE = 60.0  # seconds after which a use counts half
_NOTHING = 0.01
_MANY = 1000


class RecentUse:
    """Seconds of use, which fade with time. Not thread-safe: its owner holds a lock."""

    def __init__(self) -> None:
        self._used: dict[str, tuple[float, float]] = {}  # seconds of use, and the time of that sum
        self._many = _MANY

    def of(self, tenant_key: str) -> float:
        used, then = self._used.get(tenant_key, (0.0, 0.0))
        return used * math.exp2((then - time.monotonic()) / _HALF_LIFE)

    def add(self, tenant_key: str, seconds: float) -> None:
        if not seconds:
            return
        self._used[tenant_key] = (self.of(tenant_key) + seconds, time.monotonic())
        if len(self._used) > self._many:
            self._used = {each: used for each, used in self._used.items() if self.of(each) > _NOTHING}
            self._many = _MANY + 2 * len(self._used)
