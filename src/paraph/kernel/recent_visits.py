"""Whether anybody else has come lately."""

import time

_LATELY = 30.0  # seconds


class RecentVisits:
    """Who came last, and when somebody else did. Used by one thread at a time."""

    def __init__(self) -> None:
        self._last = ""
        self._came = self._other_came = -_LATELY

    def add(self, tenant_key: str) -> None:
        now = time.monotonic()
        if tenant_key != self._last:
            self._last, self._other_came = tenant_key, self._came
        self._came = now

    def of_others(self, tenant_key: str) -> bool:
        """Return whether a tenant other than this one has come lately."""
        came = self._other_came if tenant_key == self._last else self._came
        return time.monotonic() < came + _LATELY
