"""Threads that wait: for a process that reads a PDF, or for a machine of others.

A web process has few threads. Those that wait take one of the places of this process first, so that threads are left
for whatever waits for nothing: health, signing pages, plain calls of the API. Each of the two has places of its own: a
mail server that hangs keeps nobody from uploading. Nothing is bounded until :func:`bound_to` says how many threads
there are; commands and job workers never do.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from paraph.kernel.places import Places, Told, Visit

_PATIENCE_SECONDS = 2.0  # a mail server that is well has taken a message by then, a sound file is read

_readers: Places | None = None
_machines: Places | None = None


def bound_to(threads: int | None, of_readers: Told | None = None, of_machines: Told | None = None) -> None:
    """Of so many threads three eighths (two of four) may wait for readers from now on, and a quarter for machines of
    others, in a process where nobody waits yet; for a second as many more as come, then an eighth more of each. None:
    no bound. What is told is said at :class:`paraph.kernel.places.Places`."""
    global _readers, _machines  # noqa: PLW0603  the threads are those of the process
    _readers = _places(threads // 2 - threads // 8, threads // 8, of_readers) if threads else None
    _machines = _places(threads // 4, threads // 8, of_machines) if threads else None


@contextmanager
def waiting_for_reader(party: str) -> Iterator[Visit]:
    """The visit has no place where this thread may not wait on behalf of the party for a process that reads a PDF; the
    block runs either way."""
    with _waiting(_readers, party) as visit:
        yield visit


@contextmanager
def waiting_for_machine(party: str) -> Iterator[Visit]:
    """The visit has no place where this thread may not wait on behalf of the party for a machine of others, such as a
    mail server; the block runs either way."""
    with _waiting(_machines, party) as visit:
        yield visit


def _places(count: int, line: int, told: Told | None) -> Places:
    return Places(max(1, count), _PATIENCE_SECONDS, line, told)


@contextmanager
def _waiting(places: Places | None, party: str) -> Iterator[Visit]:
    if places is None:
        yield Visit(party, has_place=True)
        return
    with places.place(party) as visit:
        yield visit
