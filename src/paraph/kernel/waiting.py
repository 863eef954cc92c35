"""Limit the threads that wait: for a process that reads a PDF, or for a machine of others.

A web process has few threads. Those that wait take a lease first, so that threads are left for whatever waits for
nothing: health, signing pages, plain calls of the API. The two are limited apart: a mail server that hangs keeps nobody
from uploading. Nothing is limited until :func:`configure` says how many threads there are, which web processes do;
commands and job workers never do, and may wait on behalf of nobody (``""``).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from paraph.kernel.fair_semaphore import FairSemaphore, Lease, Told

_PATIENCE_SECONDS = 2.0  # a mail server that is well has taken a message by then, a sound file is read
_PATIENCE_ALONE_SECONDS = 8.0  # as for a free process: nobody else needs the threads

_readers: FairSemaphore | None = None
_machines: FairSemaphore | None = None


def configure(threads: int | None, of_readers: Told | None = None, of_machines: Told | None = None) -> None:
    """Let three eighths of ``threads`` (two of four) wait for readers, and a quarter for machines of others, and as
    many more as come; an eighth more of each once a reader has worked, or a machine kept somebody, for a second. Then a
    tenant that comes alone may have threads wait for readers until a quarter of all is left.

    None: no limit. Call it before the first request. What is told is said at
    :class:`paraph.kernel.fair_semaphore.FairSemaphore`."""
    global _readers, _machines  # noqa: PLW0603  the threads are those of the process
    _readers = _machines = None
    if threads:
        quarter, line = max(1, threads // 4), threads // 8
        readers = max(1, threads // 2 - threads // 8)
        holds = max(1, readers - 1)  # of the readers' places: the last is for another tenant
        _readers = FairSemaphore(
            readers,
            _PATIENCE_SECONDS,
            line,
            of_readers,
            alone=_PATIENCE_ALONE_SECONDS,
            line_alone=max(0, threads - quarter - holds),
            by_work=True,
        )
        _machines = FairSemaphore(quarter, _PATIENCE_SECONDS, line, of_machines)


@contextmanager
def waiting_for_reader(tenant_key: str) -> Iterator[Lease]:
    """Lease a wait for a process that reads a PDF, on behalf of the tenant. The block runs either way:
    ``lease.has_place`` says whether it may wait."""
    with _waiting(_readers, tenant_key) as lease:
        yield lease


@contextmanager
def waiting_for_machine(tenant_key: str) -> Iterator[Lease]:
    """Lease a wait for a machine of others, such as a mail server, likewise."""
    with _waiting(_machines, tenant_key) as lease:
        yield lease


@contextmanager
def _waiting(places: FairSemaphore | None, tenant_key: str) -> Iterator[Lease]:
    if places is None:
        yield Lease(tenant_key, has_place=True)
        return
    if not tenant_key:
        raise ValueError("in a web process, threads wait on behalf of a tenant only")
    with places.place(tenant_key) as lease:
        yield lease
