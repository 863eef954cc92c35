"""How many threads of a process may wait."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from paraph.kernel.waiting import bound_to, waiting


@pytest.fixture(autouse=True)
def afterwards() -> Iterator[None]:
    yield
    bound_to(None)


def places_of(threads: int | None) -> list[bool]:
    """Whether each of six parties finds a place."""
    bound_to(threads)
    with ExitStack() as everybody:
        return [bool(everybody.enter_context(waiting(str(number)))) for number in range(6)]


def test_threads_are_not_bounded_where_nobody_says_how_many_there_are() -> None:
    assert places_of(None) == [True] * 6


@pytest.mark.parametrize(("threads", "places"), [(1, 1), (2, 1), (3, 1), (4, 2), (8, 4)])
def test_half_of_the_threads_may_wait(threads: int, places: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.kernel.waiting._PATIENCE_SECONDS", 0.01)
    assert places_of(threads) == [True] * places + [False] * (6 - places)
