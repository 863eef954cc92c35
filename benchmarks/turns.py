"""Milliseconds of things that are done in turns, so that the moods of the machine meet all of them."""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any


def in_turns(things: Sequence[Callable[[], Any]], times: int, warm: int = 2) -> list[float]:
    """The median of each thing. ``warm``: how often each is done before that counts."""
    taken: list[list[float]] = [[] for _ in things]
    for _ in range(times + warm):
        for thing, seconds in zip(things, taken, strict=True):
            began = time.perf_counter()
            thing()
            seconds.append(time.perf_counter() - began)
    return [statistics.median(seconds[warm:]) * 1000 for seconds in taken]
