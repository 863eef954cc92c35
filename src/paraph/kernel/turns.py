"""Turns: on whose behalf the threads of a web process work (docs/decisions/fair-waiting.md).

A thread takes its turn as soon as it knows who asks, before it reads the body of the request. What it uses of a
processor is charged to that party; one that has had its share has few threads at a time while others come as well.
Nothing is bounded until :func:`bound_to` says how many threads there are; commands and job workers never do.
"""

import threading
import time
from dataclasses import dataclass

from paraph.kernel.errors import DomainError
from paraph.kernel.places import Places, Told, Visit

_PATIENCE_SECONDS = 2.0  # in which many calls are answered, so that a client with a few connections is not refused

_places: Places | None = None


class NoTurnError(DomainError):
    """The party has had its share; it may try again in a few seconds."""

    def __init__(self) -> None:
        super().__init__("unavailable", "The service is too busy for this at the moment. Try again in a few seconds.")


@dataclass
class _Request:
    """What a thread answers. ``began``: the thread's processor seconds until then."""

    began: float
    visit: Visit | None = None


class _Here(threading.local):
    request: _Request | None = None


_here = _Here()


def bound_to(threads: int | None, told: Told | None = None) -> None:
    """Of so many threads a party that has had its share has at most a quarter from now on, in a process where nobody
    has a turn yet; three eighths more may wait on its behalf, none of fewer than eight. None: no bound."""
    global _places  # noqa: PLW0603  the threads are those of the process
    # One more place than threads: who has not had its share never waits for another thread than the one it has.
    share = max(1, (threads or 0) // 4)
    line = 3 * (threads or 0) // 8 if (threads or 0) >= 8 else 0
    _places = Places(threads + 1, _PATIENCE_SECONDS, line, told, share=share) if threads else None


class _Answering:
    def __enter__(self) -> None:
        _here.request = _Request(time.thread_time())

    def __exit__(self, *_failure: object) -> None:
        mine, _here.request = _here.request, None
        if mine and mine.visit and _places:
            mine.visit.used = time.thread_time() - mine.began
            _places.leave(mine.visit)


request = _Answering()
"""The block answers a request in this thread. The turn that is taken in it ends with it."""


def take(party: str) -> None:
    """This thread goes on on behalf of the party, of the first that is named within a request. Raises
    :class:`NoTurnError` where the party has had its share, after a while in which it did not get to go on."""
    mine = _here.request
    if mine is None or not _places:
        return
    mine.visit = mine.visit or _places.come(party)
    if not mine.visit.has_place:
        raise NoTurnError
