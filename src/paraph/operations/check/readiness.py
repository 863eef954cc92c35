"""Readiness for load balancers, from outcomes that stay valid for a while, so that frequent requests cost nothing."""

import threading
import time
from dataclasses import dataclass

from paraph.operations.check.outcome import Outcome, Status
from paraph.operations.check.service_checks import CHECKS, SERVING, ServiceCheck, outcomes_by_check

_SECONDS = 4.0
_LATE_SECONDS = 10.0  # a machine that is busy at its start is not out of the balance for minutes


@dataclass(frozen=True)
class Readiness:
    """``ready``: whether requests can be served. ``parts``: the status of each outcome, by name."""

    ready: bool
    parts: dict[str, str]


class ReadinessCache:
    """The latest outcomes of each check, in this process."""

    def __init__(self) -> None:
        self._outcomes: dict[str, list[Outcome]] = {}
        self._until: dict[str, float] = {}
        self._lock = threading.Lock()

    def readiness(self) -> Readiness:
        """Return the readiness, what is out of date renewed; while another caller renews, the earlier outcomes."""
        if self._lock.acquire(blocking=not self._outcomes):
            try:
                self._renew()
            finally:
                self._lock.release()
        outcomes = {outcome.name: outcome for found in self._outcomes.values() for outcome in found}
        needed = [outcomes[check.name] for check in SERVING]
        ready = all(outcome.status != Status.FAILED or outcome.transient for outcome in needed)
        return Readiness(ready, {name: outcome.status.value for name, outcome in outcomes.items()})

    def _renew(self) -> None:
        now = time.monotonic()
        stale = [check for check in CHECKS if check.valid_seconds and self._until.get(check.name, 0.0) <= now]
        self._outcomes = self._outcomes | outcomes_by_check(stale, _SECONDS)
        self._until.update({check.name: now + self._valid_seconds(check) for check in stale})

    def _valid_seconds(self, check: ServiceCheck) -> float:
        late = any(outcome.late for outcome in self._outcomes[check.name])
        return min(check.valid_seconds, _LATE_SECONDS) if late else check.valid_seconds


READINESS = ReadinessCache()
