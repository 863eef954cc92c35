"""Faults at random moments, from a seed."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

Fault = Callable[[random.Random], None]
"""Makes something fail for a random while."""


class Faults(threading.Thread):
    """A thread that injects faults until it is stopped, for at most ``seconds``. ``injected`` counts them by kind."""

    def __init__(self, kinds: Mapping[str, Fault], *, seed: int, pause: float, seconds: float) -> None:
        super().__init__(daemon=True)
        self.injected: Counter[str] = Counter()
        self._kinds = kinds
        self._random = random.Random(seed)
        self._pause = pause
        self._seconds = seconds
        self._stopping = threading.Event()
        self._unable: BaseException | None = None

    def run(self) -> None:
        end = time.monotonic() + self._seconds
        chosen = self._chosen()
        while not self._stopping.wait(self._random.uniform(0.5, 1.5) * self._pause) and time.monotonic() < end:
            kind = next(chosen)
            self.injected[kind] += 1
            try:
                self._kinds[kind](self._random)
            except BaseException as unable:
                self._unable = unable
                raise

    def go_on_until(self, count: int) -> bool:
        """Whether fewer than ``count`` faults were injected and more are to come."""
        return self.injected.total() < count and self.is_alive()

    def stop(self) -> None:
        """Stop, and raise the exception of a fault that could not be injected."""
        self._stopping.set()
        self.join()
        if self._unable:
            raise self._unable

    def _chosen(self) -> Iterator[str]:
        """Yield every kind equally often, in random order."""
        while True:
            yield from self._random.sample(list(self._kinds), len(self._kinds))
