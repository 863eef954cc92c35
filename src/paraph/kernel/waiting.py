"""Threads that wait: for a machine of others, or for a process that reads a PDF.

A web process has few threads. Those that wait take one of the places of this process first, so that threads are left
for whatever waits for nothing: health, signing pages, plain calls of the API. Nothing is bounded until
:func:`bound_to` says how many threads there are; commands and job workers never do.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from paraph.kernel.places import Places, Told, Visit

_PATIENCE_SECONDS = 2.0  # a mail server that is well has taken a message by then, a sound file is read

_places: Places | None = None


def bound_to(threads: int | None, told: Told | None = None) -> None:
    """Of so many threads half may wait from now on, in a process where nobody waits yet; for a second as many more
    as come, then an eighth more. None: no bound."""
    global _places  # noqa: PLW0603  the threads are those of the process
    _places = Places(max(1, threads // 2), _PATIENCE_SECONDS, threads // 8, told) if threads else None


@contextmanager
def waiting(party: str) -> Iterator[Visit | None]:
    """None where this thread may not wait on behalf of the party; the block runs either way."""
    if _places is None:
        yield Visit(party)
        return
    with _places.place(party) as visit:
        yield visit
