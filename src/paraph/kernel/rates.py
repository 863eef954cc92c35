"""Ceilings of how often something may be done, and counting."""

import re
import threading
import time
from typing import NamedTuple

_WRITTEN = re.compile(r"(\d{1,9})(?:/(\d{1,9}))?", re.ASCII)

HOUR = 3600
DAY = 24 * HOUR


class PerHourAndDay(NamedTuple):
    """Two ceilings, of which 0 means no limit. Written ``10/30``, or ``0`` for no limit at all."""

    per_hour: int
    per_day: int

    @classmethod
    def parse(cls, written: str) -> "PerHourAndDay":
        """Parse the written form. Raise ``ValueError`` with what the form must be."""
        match = _WRITTEN.fullmatch(written.strip())
        if match is None or (match[2] is None and int(match[1])):
            raise ValueError("must be two numbers such as 10/30, in an hour and in a day, or 0 for no limit")
        return cls(int(match[1]), int(match[2] or 0))

    def times(self, factor: int) -> "PerHourAndDay":
        return PerHourAndDay(self.per_hour * factor, self.per_day * factor)

    def __str__(self) -> str:
        return f"{self.per_hour}/{self.per_day}"


class MinuteRate:
    """Count the calls for each number within a minute of this machine's monotonic clock. Thread-safe."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._minute = 0
        self._counts: dict[int, int] = {}

    def count(self, number: int) -> int:
        """Count a call. Return 0, or beyond the ceiling the seconds until the next minute."""
        now = time.monotonic()
        with self._lock:
            if int(now // 60) != self._minute:
                self._minute, self._counts = int(now // 60), {}
            self._counts[number] = counted = self._counts.get(number, 0) + 1
        return 60 - int(now % 60) if counted > self.most else 0
