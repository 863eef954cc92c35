"""How many threads of a process may wait."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack

import pytest

from paraph.kernel.fair_semaphore import LONG, Lease
from paraph.kernel.waiting import configure, waiting_for_machine, waiting_for_reader
from tests.pdf.processes import eventually


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


@pytest.mark.parametrize("waiting", [waiting_for_machine, waiting_for_reader])
def test_in_a_web_process_nobody_waits_on_behalf_of_no_tenant(waiting: Waiting) -> None:
    configure(8)
    with pytest.raises(ValueError, match="on behalf of a tenant"), waiting(""):
        pass


@pytest.mark.parametrize(("count", "hold", "wait"), [(2, 1, 0), (3, 1, 1), (4, 1, 2), (8, 2, 4), (12, 4, 5)])
def test_a_tenant_that_is_alone_waits_for_slow_files_and_leaves_a_quarter_of_the_threads_free(
    count: int, hold: int, wait: int
) -> None:
    configure(count)
    with ExitStack() as holding, ThreadPoolExecutor(count) as threads:
        slow = [holding.enter_context(waiting_for_reader("tenant")) for _ in range(hold)]
        slow[0].used = LONG
        line = [threads.submit(_has_place, "tenant") for _ in range(wait + 1)]
        assert eventually(lambda: any(each.done() for each in line), seconds=1)
        assert [each.result() for each in line if each.done()] == [False]
        holding.close()
        assert sorted(each.result() for each in line) == [False, *[True] * wait]


def test_who_waits_alone_in_a_long_line_makes_room_when_somebody_else_comes() -> None:
    configure(8)
    with ExitStack() as holding, ThreadPoolExecutor(8) as threads:
        slow = [holding.enter_context(waiting_for_reader("tenant")) for _ in range(2)]
        slow[0].used = LONG
        line = [threads.submit(_has_place, "tenant") for _ in range(4)]
        with waiting_for_reader("other") as other:
            assert other.has_place
            assert eventually(lambda: sum(each.done() for each in line) >= 3, seconds=1)
        holding.close()


def _has_place(tenant_key: str) -> bool:
    with waiting_for_reader(tenant_key) as lease:
        return lease.has_place
