"""How many previews of a stamp a signer may ask for: setting one takes 20 ms of a processor."""

import threading
import time

from paraph.kernel.errors import DomainError

PER_MINUTE = 60  # of one signer, in each web process


class TooManyStampsError(DomainError):
    """``retry_after``: seconds until the signer may ask again."""

    def __init__(self, retry_after: int) -> None:
        self.retry_after = retry_after
        super().__init__("rate_limited", f"Too many stamps were drawn; try again in {retry_after} seconds.")


class StampRate:
    """Counts by signer, within a minute of this machine's monotonic clock. Used by all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._minute = 0
        self._counts: dict[int, int] = {}

    def count(self, signer_id: int) -> None:
        """Raises :class:`TooManyStampsError` beyond :data:`PER_MINUTE`."""
        now = time.monotonic()
        with self._lock:
            if int(now // 60) != self._minute:
                self._minute, self._counts = int(now // 60), {}
            self._counts[signer_id] = counted = self._counts.get(signer_id, 0) + 1
        if counted > PER_MINUTE:
            raise TooManyStampsError(60 - int(now % 60))


rate = StampRate()
