"""What several processes do at once, done by threads, each with a connection of its own to the database."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any, TypeVar

from django.db import connection

from paraph.kernel.errors import DomainError

_T = TypeVar("_T")


def beside_each_other(*verbs: Callable[[], _T], threads: int = 0) -> list[_T]:
    """What each returned. ``threads``: that work them off; 0 is one for each. For tests whose rows are committed."""

    def run(verb: Callable[[], _T]) -> _T:
        try:
            return verb()
        finally:
            connection.close()

    with ThreadPoolExecutor(threads or len(verbs)) as pool:
        return list(pool.map(run, verbs))


def at_once(*verbs: Callable[[], Any]) -> list[Any]:
    """What each returned or, of one that was refused, the code; they begin together."""
    barrier = Barrier(len(verbs))

    def begin(verb: Callable[[], Any]) -> Any:
        connection.ensure_connection()
        barrier.wait()
        try:
            return verb()
        except DomainError as refusal:
            return refusal.code

    return beside_each_other(*(partial(begin, verb) for verb in verbs))
