"""Threads that hold turns until a test lets them go."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor

from paraph.kernel import cpu_share
from tests.pdf.processes import eventually


class Holders:
    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self.over = threading.Event()
        self._threads = threads
        self._held: list[str] = []

    def take(self, tenant_key: str, count: int) -> None:
        """Returns once all of them have a turn."""
        wanted = len(self._held) + count
        for _ in range(count):
            self.come(tenant_key)
        assert eventually(lambda: len(self._held) == wanted)

    def come(self, tenant_key: str) -> Future[bool]:
        """True once it had a turn and was let go."""
        return self._threads.submit(self._hold, tenant_key)

    def _hold(self, tenant_key: str) -> bool:
        with cpu_share.request:
            cpu_share.acquire(tenant_key)
            self._held.append(tenant_key)
            return self.over.wait(60)
