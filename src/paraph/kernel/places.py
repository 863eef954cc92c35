"""Places for the threads of a web process: for expensive work, for waiting for a machine of others
(docs/decisions/fair-waiting.md), and for sending files (docs/decisions/slow-clients.md).

Whatever takes a processor for longer than a plain call takes a place before it begins: reading a PDF, typesetting,
long lists, the pages of large drafts. So threads are left for all else, whatever one tenant asks for. Nothing is
limited until :func:`configure` says how many threads there are, which web processes do; commands and job workers never
do.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from paraph.kernel.fair_semaphore import FairSemaphore, Told

_work: FairSemaphore | None = None
_machines: FairSemaphore | None = None
_files: FairSemaphore | None = None


class _Here(threading.local):
    """``tenant_key``: on whose behalf this thread works, "" for nobody; ``at_work``: it holds a place; ``until_end``:
    what ends with the request that it answers."""

    tenant_key = ""
    at_work = False
    until_end: ExitStack | None = None


_here = _Here()


def configure(threads: int | None, of_work: Told | None = None, of_machines: Told | None = None) -> None:
    """Let an eighth of ``threads`` (two at least) work, and as many wait for machines of others; one tenant has half of
    either. Who waits for a place keeps a thread too: five eighths of all threads at most work or wait to work, three
    eighths for one tenant (of 16, as many as a browser has connections), and three eighths belong to machines of
    others. A quarter of them may send files, and an eighth wait to. None: no limit. Call it before the first
    request."""
    global _work, _machines, _files  # noqa: PLW0603  the threads are those of the process
    _work = _machines = _files = None
    if threads:
        half, eighth = max(1, threads // 2), threads // 8
        count = min(half, max(2, eighth))
        _work = FairSemaphore(count, max(count, half + eighth), max(count, half - eighth), of_work)
        _machines = FairSemaphore(count, max(count, half - eighth), max(1, count // 2 + eighth), of_machines)
        quarter = max(1, threads // 4)
        _files = FairSemaphore(quarter, quarter + max(1, eighth), max(2, quarter))


@contextmanager
def on_behalf_of_nobody() -> Iterator[None]:
    """Answer a request in the block; what :func:`name_tenant` and :func:`expensive_request` say in it ends with it."""
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
    """Hold a place for the block, on behalf of the tenant that is named here or was with :func:`name_tenant`; work
    within work takes no other one. Raises :class:`paraph.kernel.fair_semaphore.NoPlaceError`."""
    if _work is None or _here.at_work:
        yield
        return
    with _work.place(_named(tenant_key)):
        _here.at_work = True
        try:
            yield
        finally:
            _here.at_work = False


def expensive_request() -> None:
    """Hold a place until the request is answered, as :func:`expensive_work` does."""
    if _here.until_end:
        _here.until_end.enter_context(expensive_work())


@contextmanager
def machine_of_others(tenant_key: str) -> Iterator[None]:
    """Hold a place for the block, in which a machine of others is waited for, such as a mail server; else likewise."""
    if _machines is None:
        yield
        return
    with _machines.place(_named(tenant_key)):
        yield


@contextmanager
def sending_file(network: str) -> Iterator[None]:
    """Hold a place for the block, in which a file is sent, on behalf of the tenant that was named or else of the
    client's ``network``; else likewise."""
    if _files is None:
        yield
        return
    with _files.place(_here.tenant_key or network):
        yield


def _named(tenant_key: str) -> str:
    named = tenant_key or _here.tenant_key
    if not named:
        raise ValueError("in a web process, threads work and wait on behalf of a tenant only")
    return named
