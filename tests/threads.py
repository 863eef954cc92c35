"""What several processes do at once, done by threads, each with a connection of its own to the database."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connection

_T = TypeVar("_T")


def beside_each_other(*verbs: Callable[[], _T]) -> list[_T]:
    """What each returned. For tests whose rows are committed."""

    def run(verb: Callable[[], _T]) -> _T:
        try:
            return verb()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(verbs)) as threads:
        return list(threads.map(run, verbs))
