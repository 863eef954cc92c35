"""Threads that hold turns until a test lets them go."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor

from paraph.kernel import turns
from tests.pdf.processes import eventually


class Holders:
    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self.over = threading.Event()
        self._threads = threads
        self._held: list[str] = []

    def take(self, party: str, count: int) -> None:
        """Returns once all of them have a turn."""
        wanted = len(self._held) + count
        for _ in range(count):
            self.come(party)
        assert eventually(lambda: len(self._held) == wanted)

    def come(self, party: str) -> Future[bool]:
        """True once it had a turn and was let go."""
        return self._threads.submit(self._hold, party)

    def _hold(self, party: str) -> bool:
        with turns.request:
            turns.take(party)
            self._held.append(party)
            return self.over.wait(60)
