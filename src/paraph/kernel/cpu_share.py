"""Share the threads of a web process fairly among tenants, by the processor time that they use
(docs/decisions/fair-waiting.md).

A thread calls :func:`acquire` as soon as it knows who asks, before it reads the body of the request. What it uses of a
processor is charged to that tenant. Nothing is limited until :func:`configure` says how many threads there are;
commands and job workers never do."""

import threading
import time
from dataclasses import dataclass

from paraph.kernel.errors import DomainError
from paraph.kernel.fair_semaphore import FairSemaphore, Lease, Told

_PATIENCE_SECONDS = 2.0  # in which many calls are answered, so that a client with a few connections is not refused

_threads: FairSemaphore | None = None


class CpuShareExceededError(DomainError):
    """The tenant has had its share; it may try again in a few seconds."""

    def __init__(self) -> None:
        super().__init__("unavailable", "The service is too busy for this at the moment. Try again in a few seconds.")


@dataclass
class _Request:
    """What a thread answers. ``began``: the thread's processor seconds until then."""

    began: float
    lease: Lease | None = None


class _Here(threading.local):
    request: _Request | None = None


_here = _Here()


def configure(threads: int | None, told: Told | None = None) -> None:
    """Limit each tenant that is over its share to a quarter of ``threads`` while others come as well; three eighths
    more may wait on its behalf, none of fewer than eight. None: no limit. Call it before the first request."""
    global _threads  # noqa: PLW0603  the threads are those of the process
    # One more place than threads: who has not had its share never waits for another thread than the one it has.
    share = max(1, (threads or 0) // 4)
    line = 3 * (threads or 0) // 8 if (threads or 0) >= 8 else 0
    _threads = FairSemaphore(threads + 1, _PATIENCE_SECONDS, line, told, share=share) if threads else None


class _Answering:
    def __enter__(self) -> None:
        _here.request = _Request(time.thread_time())

    def __exit__(self, *_failure: object) -> None:
        mine, _here.request = _here.request, None
        if mine and mine.lease and _threads:
            mine.lease.used = time.thread_time() - mine.began
            _threads.leave(mine.lease)


request = _Answering()
"""Answer a request in the block, in this thread. What is acquired in it is released with it."""


def acquire(tenant_key: str) -> None:
    """Charge this thread to the tenant: to the first that is named within a request. Raises
    :class:`CpuShareExceededError` where the tenant is over its share and no thread came free in two seconds."""
    mine = _here.request
    if mine is None or not _threads:
        return
    mine.lease = mine.lease or _threads.come(tenant_key)
    if not mine.lease.has_place:
        raise CpuShareExceededError
