"""How many threads of a process may wait."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack

import pytest

from paraph.kernel.fair_semaphore import Lease
from paraph.kernel.waiting import configure, waiting_for_machine, waiting_for_reader


@pytest.fixture(autouse=True)
def afterwards() -> Iterator[None]:
    yield
    configure(None)


Waiting = Callable[[str], AbstractContextManager[Lease]]


def places_of(threads: int | None, waiting: Waiting) -> list[bool]:
    """Whether each of six parties finds a place."""
    configure(threads)
    with ExitStack() as everybody:
        return [everybody.enter_context(waiting(str(number))).has_place for number in range(6)]


@pytest.mark.parametrize("waiting", [waiting_for_machine, waiting_for_reader])
def test_threads_are_not_bounded_where_nobody_says_how_many_there_are(waiting: Waiting) -> None:
    assert places_of(None, waiting) == [True] * 6


@pytest.mark.parametrize(("threads", "places"), [(1, 1), (2, 1), (3, 1), (4, 2), (8, 3), (12, 5)])
def test_three_eighths_may_wait_for_readers(threads: int, places: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.kernel.waiting._PATIENCE_SECONDS", 0.01)
    assert places_of(threads, waiting_for_reader) == [True] * places + [False] * (6 - places)


@pytest.mark.parametrize(("threads", "places"), [(1, 1), (4, 1), (8, 2), (16, 4)])
def test_a_quarter_may_wait_for_machines_of_others(threads: int, places: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.kernel.waiting._PATIENCE_SECONDS", 0.01)
    assert places_of(threads, waiting_for_machine) == [True] * places + [False] * (6 - places)


def test_neither_takes_places_of_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.kernel.waiting._PATIENCE_SECONDS", 0.01)
    configure(4)
    with waiting_for_machine("slow") as held, waiting_for_machine("slow") as refused:
        assert held.has_place
        assert not refused.has_place
        with waiting_for_reader("slow") as reading, waiting_for_reader("other") as too:
            assert reading.has_place
            assert too.has_place
