"""A ceiling of calls a minute for each of many, counted by one process."""

import threading
import time


class MinuteRate:
    """Count by number within a minute of this machine's monotonic clock. Used by all threads."""

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
