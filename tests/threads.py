"""What several processes do at once, done by threads, each with a connection of its own to the database."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connection

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
