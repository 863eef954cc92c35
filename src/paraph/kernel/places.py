"""Places for the threads of a web process: for expensive work, for waiting for a machine of others or for the
object store (docs/decisions/fair-waiting.md), and for sending files (docs/decisions/slow-clients.md).

No tenant ever has all places. Work that needs a processor for longer than a plain call takes a place before it begins:
reading a PDF, typesetting, long lists, the pages of large drafts. So some threads stay free for everything else,
whatever one tenant asks for. Nothing is limited until :func:`configure` says how many threads there are; only web
processes call it, commands and job workers never do.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from threading import Condition

from paraph.kernel.errors import DomainError

PATIENCE_SECONDS = 5.0

Told = Callable[[float, bool], object]


class NoPlaceError(DomainError):
    """All places are taken; whoever asked may try again in a few seconds."""

    sentence = "The service is too busy for this at the moment. Try again in a few seconds."

    def __init__(self) -> None:
        super().__init__("unavailable", self.sentence)


class FairSemaphore:
    """Hold ``count`` places for threads, for one tenant at most half of them (one at least). At most ``crowd`` threads
    hold a place or wait for one, at most ``crowd_of_one`` of them on behalf of one tenant; further threads are refused
    at once. No thread waits longer than five seconds. The next place goes to the waiting thread whose tenant holds
    fewest. The tenant ``""``, on whose behalf commands and workers act, is bounded by the count alone. ``told`` is
    called with the seconds that a thread waited and whether it got a place, but not if it got one at once."""

    def __init__(self, count: int, crowd: int, crowd_of_one: int, told: Told | None = None) -> None:
        self._count = count
        self._crowd, self._crowd_of_one = crowd, crowd_of_one
        self._told = told
        self._changed = Condition()
        self._held: list[str] = []  # the tenant of each place that is taken
        self._waiting: list[list[str]] = []  # the tenant of each waiting thread, in a list of its own

    @contextmanager
    def place(self, tenant_key: str) -> Iterator[None]:
        """Hold a place for the block. Raise :class:`NoPlaceError`."""
        self._take(tenant_key)
        try:
            yield
        finally:
            with self._changed:
                self._held.remove(tenant_key)
                self._changed.notify_all()

    def _take(self, tenant_key: str) -> None:
        came, mine = time.monotonic(), [tenant_key]
        with self._changed:
            crowded = self._is_crowded(tenant_key)
            self._waiting.append(mine)
            try:
                at_once = self._next() is mine
                served = self._changed.wait_for(lambda: self._next() is mine, 0 if crowded else PATIENCE_SECONDS)
            finally:
                self._waiting = [each for each in self._waiting if each is not mine]
            if served:
                self._held.append(tenant_key)
            self._changed.notify_all()  # another thread may be next now
        if self._told and not at_once:
            self._told(time.monotonic() - came, served)
        if not served:
            raise NoPlaceError

    def _is_crowded(self, tenant_key: str) -> bool:
        there = [*self._held, *(name for [name] in self._waiting)]
        return len(there) >= self._crowd or (bool(tenant_key) and there.count(tenant_key) >= self._crowd_of_one)

    def _next(self) -> list[str] | None:
        ready = (each for each in self._waiting if self._has_room(each[0]))
        return min(ready, key=lambda each: self._held.count(each[0]), default=None)

    def _has_room(self, tenant_key: str) -> bool:
        is_within_share = not tenant_key or self._held.count(tenant_key) < max(1, self._count // 2)
        return len(self._held) < self._count and is_within_share


_of: dict[str, FairSemaphore] = {}  # the places for each purpose; empty if nothing is limited


class _Here(threading.local):
    """``tenant_key``: on whose behalf this thread works, "" for nobody; ``at_work``: whether it holds a place for work;
    ``until_end``: the contexts to leave at the end of the request that it answers."""

    tenant_key = ""
    at_work = False
    until_end: ExitStack | None = None


_here = _Here()


def configure(threads: int | None, of_work: Told | None = None, of_machines: Told | None = None) -> None:
    """Let an eighth of ``threads`` (two at least) work, and as many wait for machines of others; one tenant gets
    half of either. Waiting for a place occupies a thread, too: at most five eighths of all threads work or wait to, for
    one tenant three eighths (of 16, as many as a browser has connections); three eighths use machines of others or
    wait to. A quarter of all threads may send files, and an eighth wait to. Three quarters may use the object store,
    and an eighth wait to; one tenant gets half of these places, and three quarters of all threads including those that
    wait. None: no limit. To be called before the first request."""
    _of.clear()
    if threads:
        half, quarter, eighth = max(1, threads // 2), max(1, threads // 4), threads // 8
        count = min(half, max(2, eighth))
        _of["work"] = FairSemaphore(count, max(count, half + eighth), max(count, half - eighth), of_work)
        _of["machine"] = FairSemaphore(count, max(count, half - eighth), max(1, count // 2 + eighth), of_machines)
        _of["file"] = FairSemaphore(quarter, quarter + max(1, eighth), max(2, quarter))
        most = max(1, threads - quarter)
        _of["store"] = FairSemaphore(most, max(most, threads - max(1, eighth)), most, of_machines)


@contextmanager
def on_behalf_of_nobody() -> Iterator[None]:
    """Answer a request in the block. What :func:`name_tenant` and :func:`expensive_request` do in it ends with it."""
    try:
        with ExitStack() as _here.until_end:
            yield
    finally:
        _here.tenant_key, _here.until_end = "", None


def name_tenant(tenant_key: str) -> None:
    """Say on whose behalf this thread answers its request, as soon as that is known."""
    _here.tenant_key = tenant_key


@contextmanager
def expensive_work(tenant_key: str = "") -> Iterator[None]:
    """Hold a place for the block, on behalf of the tenant that is named here or was named with :func:`name_tenant`.
    A thread that holds one already takes no other. Raise :class:`paraph.kernel.places.NoPlaceError`."""
    if not _of or _here.at_work:
        yield
        return
    with _of["work"].place(_named(tenant_key)):
        _here.at_work = True
        try:
            yield
        finally:
            _here.at_work = False


def expensive_request() -> None:
    """Hold a place until the request is answered, as :func:`expensive_work` does."""
    if _here.until_end:
        _here.until_end.enter_context(expensive_work())


def machine_of_others(tenant_key: str) -> AbstractContextManager[None]:
    """Hold a place for a block that waits for a machine of others, such as a mail server; else as for work."""
    return _of["machine"].place(_named(tenant_key)) if _of else nullcontext()


def object_store() -> AbstractContextManager[None]:
    """Hold a place for a block that calls the object store, on behalf of the tenant that was named; threads without one
    share one tenant. Raise :class:`NoPlaceError`."""
    return _of["store"].place(_here.tenant_key or "unnamed") if _of else nullcontext()


def sending_file(network: str) -> AbstractContextManager[None]:
    """Hold a place for a block that sends a file, on behalf of the tenant that was named or else of the client's
    ``network``. Raise :class:`NoPlaceError`."""
    return _of["file"].place(_here.tenant_key or network) if _of else nullcontext()


def _named(tenant_key: str) -> str:
    named = tenant_key or _here.tenant_key
    if not named:
        raise ValueError("in a web process, threads work and wait on behalf of a tenant only")
    return named
