"""What another thread does, of which each has places of its own."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def in_thread(work: Callable[[], Result]) -> Result:
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(work).result(30)
