"""Threads that act at once as several processes would, each with a connection of its own to the database."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any, TypeVar

from django.db import connection

from paraph.kernel.errors import DomainError

_T = TypeVar("_T")


def beside_each_other(*verbs: Callable[[], _T], threads: int = 0) -> list[_T]:
    """Call each verb in a thread. Return their results. ``threads``: 0 is one for each. Rows must be committed."""

    def run(verb: Callable[[], _T]) -> _T:
        try:
            return verb()
        finally:
            connection.close()

    with ThreadPoolExecutor(threads or len(verbs)) as pool:
        return list(pool.map(run, verbs))


def at_once(*verbs: Callable[[], Any]) -> list[Any]:
    """Begin the verbs together. Return the result of each, or the code of its refusal."""
    barrier = Barrier(len(verbs))

    def begin(verb: Callable[[], Any]) -> Any:
        connection.ensure_connection()
        barrier.wait()
        try:
            return verb()
        except DomainError as refusal:
            return refusal.code

    return beside_each_other(*(partial(begin, verb) for verb in verbs))
