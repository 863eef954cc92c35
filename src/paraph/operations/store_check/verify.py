"""The check of the whole store, at a bounded rate, which can be stopped and goes on."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from paraph.documents import objects_to_delete
from paraph.evidence.named_objects import PREFIXES, TABLES, NamedObject, is_still_named, named_among, named_objects
from paraph.operations.store_check.object_reader import Problem, problem_with
from paraph.operations.store_check.progress import Progress
from paraph.storage import store

_YOUNG = timedelta(hours=1)
"""Objects are written before the rows that name them, minutes at most."""

_AT_ONCE = 500


def verify_store(progress_file: Path, rate: float, seconds: float = float("inf")) -> dict[str, Any]:
    """Reads every object that a row names, at most ``rate`` bytes a second, and looks for objects that no row names.

    Goes on where the last check was stopped, by a signal or after ``seconds``. Returns ``finished``, counts and
    ``problems``: objects that are ``missing``, ``changed``, ``unreadable`` or ``unnamed``.
    """
    progress = Progress.resumed(progress_file)
    is_over, pace = _deadline(seconds), _Pace(rate)
    try:
        finished = all(_stage(progress, pace, is_over) for _ in range(progress.stage, len(TABLES) + len(PREFIXES)))
    finally:
        progress.save()
    if finished:
        progress_file.unlink()
    return {
        "finished": finished,
        "began_at": progress.began,
        "objects": progress.objects,
        "bytes": progress.bytes,
        "found": progress.found,
        "problems": progress.problems,
    }


def problems_with_named_objects() -> list[Problem]:
    """Reads every object that a row names, as fast as it can."""
    found = (problem_with(named, len) for word in TABLES for named in named_objects(word))
    return [problem for problem in found if problem]


class _Pace:
    """Waits so that no more than ``rate`` bytes a second are read."""

    def __init__(self, rate: float) -> None:
        self._rate, self._began, self._bytes = rate, time.monotonic(), 0

    def take(self, block: bytes) -> None:
        self._bytes += len(block)
        ahead = self._bytes / self._rate - (time.monotonic() - self._began)
        if ahead > 0:
            time.sleep(ahead)


def _deadline(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def _stage(progress: Progress, pace: _Pace, is_over: Callable[[], bool]) -> bool:
    """Does the present table or folder. Returns False where the time is over before."""
    if progress.stage < len(TABLES):
        done = _named(TABLES[progress.stage], progress, pace, is_over)
    else:
        done = _unnamed(PREFIXES[progress.stage - len(TABLES)], progress)
    if done:
        progress.next_stage()
    return done


def _named(word: str, progress: Progress, pace: _Pace, is_over: Callable[[], bool]) -> bool:
    at_hand = progress.after  # a row may name two objects, and is done after both
    for position, named in enumerate(named_objects(word, progress.after)):
        if named.row[1] != at_hand:
            progress.after, at_hand = at_hand, named.row[1]
            progress.save_now_and_then()
            if position and is_over():  # each run does something
                return False
        _check(named, progress, pace)
    return True


def _check(named: NamedObject, progress: Progress, pace: _Pace) -> None:
    problem = problem_with(named, pace.take)
    progress.objects += 1
    progress.bytes += named.size
    if problem and is_still_named(named):
        progress.report(problem)


def _unnamed(prefix: str, progress: Progress) -> bool:
    """Lists a folder, always to its end: no store promises an order in which a listing could be taken up again."""
    for key in _keys_without_row(prefix, progress):
        progress.report({"problem": "unnamed", "key": key, "row": None})
    return True


def _keys_without_row(prefix: str, progress: Progress) -> Iterator[str]:
    keys = store.keys_written_before(prefix, progress.began_at - _YOUNG)
    while chosen := list(islice(keys, _AT_ONCE)):
        known = named_among(prefix, chosen) | objects_to_delete.noted_among(chosen)
        yield from (key for key in chosen if key not in known)
