"""Places: nobody has all of them, nobody waits for long, and who has fewest is next."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from paraph.kernel.places import FairSemaphore, NoPlaceError
from tests.pdf.processes import eventually


class Crowd:
    """Threads at the places; each stays until the test lets it go."""

    def __init__(self, places: FairSemaphore, threads: ThreadPoolExecutor) -> None:
        self.places = places
        self.order: list[str] = []
        self._threads = threads
        self._over: dict[str, threading.Event] = {}

    def come(self, tenant_key: str, name: str = "") -> Future[bool]:
        over = self._over.setdefault(name or tenant_key, threading.Event())
        before = len(self.places._waiting) + self.places.held()
        coming = self._threads.submit(self._stay, tenant_key, over)
        assert eventually(lambda: coming.done() or len(self.places._waiting) + self.places.held() > before)
        return coming

    def go(self, name: str) -> None:
        self._over[name].set()

    def all_go(self) -> None:
        for over in self._over.values():
            over.set()

    def _stay(self, tenant_key: str, over: threading.Event) -> bool:
        try:
            with self.places.place(tenant_key):
                self.order.append(tenant_key)
                return over.wait(60)
        except NoPlaceError:
            return False


@contextmanager
def crowd(count: int, most: int = 100, of_one: int = 100) -> Iterator[Crowd]:
    with ThreadPoolExecutor(40) as threads:
        made = Crowd(FairSemaphore(count, most, of_one), threads)
        try:
            yield made
        finally:
            made.all_go()


@pytest.mark.parametrize(("count", "share"), [(1, 1), (2, 1), (3, 1), (4, 2), (8, 4)])
def test_one_tenant_has_at_most_half_of_the_places(count: int, share: int) -> None:
    with crowd(count) as there:
        for _ in range(count + 1):
            there.come("hog")
        assert there.places.held() == share
        if count > 1:
            there.come("other")
            assert there.order == ["hog"] * share + ["other"]


def test_commands_and_workers_have_all_of_them() -> None:
    with crowd(3) as there:
        for _ in range(3):
            there.come("")
        assert there.places.held() == 3


def test_who_finds_no_place_in_two_seconds_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.kernel.places.PATIENCE_SECONDS", 0.2)
    with crowd(2) as there:
        there.come("hog", "first")
        began = time.monotonic()
        with pytest.raises(NoPlaceError), there.places.place("hog"):
            pass
        assert 0.2 <= time.monotonic() - began < 2
        assert there.places.held() == 1


def test_who_waits_has_the_place_that_comes_free() -> None:
    with crowd(2) as there:
        there.come("one", "first")
        second = there.come("one", "second")
        there.go("first")
        assert eventually(lambda: there.order == ["one", "one"])
        there.go("second")
        assert second.result(10)


def test_of_those_who_wait_the_tenant_with_fewest_places_is_next() -> None:
    with crowd(4) as there:
        for name in ("a1", "a2"):
            there.come("a", name)
        for name in ("b1", "b2"):
            there.come("b", name)
        there.come("a", "a3")
        there.come("b", "b3")
        there.come("c", "c1")
        there.go("b1")
        assert eventually(lambda: there.order[-1] == "c")


def test_beyond_the_crowd_nobody_waits() -> None:
    with crowd(2, most=4, of_one=3) as there:
        hogs = [there.come("hog") for _ in range(6)]
        assert [hog.done() for hog in hogs] == [False] * 3 + [True] * 3
        other = there.come("other")
        assert not other.done() and there.order == ["hog", "other"]
        assert there.come("third").result(10) is False, "four are there"


def test_waits_are_told_and_places_found_at_once_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.kernel.places.PATIENCE_SECONDS", 0.1)
    waits: list[bool] = []
    places = FairSemaphore(1, 10, 10, lambda _seconds, served: waits.append(served))
    with places.place("a"):
        assert waits == []
        with pytest.raises(NoPlaceError), places.place("b"):
            pass
    assert waits == [False]
