"""Places: no tenant has all of them, none waits for long, and the one that has fewest is next; in a web process, they
bound how many threads do expensive work or wait for a machine of others."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Protocol, TypeVar

import pytest

from paraph.kernel import bounded_json
from paraph.kernel.places import (
    FairSemaphore,
    NoPlaceError,
    configure,
    expensive_work,
    machine_of_others,
    name_tenant,
    on_behalf_of_nobody,
)
from paraph.pdf.typesetting.field_values import FieldContent, field_picture
from tests.pdf.processes import eventually

Result = TypeVar("Result")


def in_thread(work: Callable[[], Result]) -> Result:
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(work).result(30)


class Crowd:
    """Threads at the places; each stays until the test lets it go."""

    def __init__(self, places: FairSemaphore, threads: ThreadPoolExecutor) -> None:
        self.places = places
        self.order: list[str] = []
        self._threads = threads
        self._over: dict[str, threading.Event] = {}

    def come(self, tenant_key: str, name: str = "") -> Future[bool]:
        over = self._over.setdefault(name or tenant_key, threading.Event())
        before = len(self.places._waiting) + len(self.places._held)
        coming = self._threads.submit(self._stay, tenant_key, over)
        assert eventually(lambda: coming.done() or len(self.places._waiting) + len(self.places._held) > before)
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
def crowd(count: int, most: int = 100, of_one: int = 100, patience: float = 60) -> Iterator[Crowd]:
    """``patience``: seconds until a thread gives up; by default too long for any to do so, however slow the machine."""
    with pytest.MonkeyPatch.context() as patched, ThreadPoolExecutor(40) as threads:
        patched.setattr("paraph.kernel.places.PATIENCE_SECONDS", patience)
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
        assert len(there.places._held) == share
        if count > 1:
            there.come("other")
            assert eventually(lambda: there.order == ["hog"] * share + ["other"])
    with crowd(count) as there:
        for _ in range(count):
            there.come("")
        assert len(there.places._held) == count, "commands and workers have all of them"


def test_who_finds_no_place_in_time_is_told() -> None:
    with crowd(2, patience=0.2) as there:
        there.come("hog", "first")
        began = time.monotonic()
        with pytest.raises(NoPlaceError), there.places.place("hog"):
            pass
        assert time.monotonic() - began >= 0.2
        assert len(there.places._held) == 1


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
        assert eventually(lambda: there.order == ["hog", "other"]) and not other.done()
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


@pytest.fixture(autouse=True)
def afterwards(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("paraph.kernel.places.PATIENCE_SECONDS", 0.05)
    yield
    configure(None)
    name_tenant("")


class Kind(Protocol):
    def __call__(self, tenant_key: str) -> AbstractContextManager[None]: ...


def has_place(kind: Kind, tenant_key: str) -> bool:
    try:
        with kind(tenant_key):
            return True
    except NoPlaceError:
        return False


@pytest.mark.parametrize("kind", [expensive_work, machine_of_others])
def test_one_tenant_never_keeps_another_from_working(kind: Kind) -> None:
    for threads in (4, 8, 16):
        configure(threads)
        with ExitStack() as held:
            while in_thread(lambda: has_place(kind, "hog")):
                in_thread(lambda: held.enter_context(kind("hog")))
            assert in_thread(lambda: has_place(kind, "other")), threads


def test_nothing_is_bounded_where_nobody_says_how_many_threads_there_are() -> None:
    with ExitStack() as held:
        for _ in range(20):
            held.enter_context(expensive_work())
            held.enter_context(machine_of_others(""))
    configure(8)
    with machine_of_others("a"), expensive_work("a"), expensive_work("a"), expensive_work("a"):
        pass  # neither kind takes places of the other, and work within work takes none


@pytest.mark.parametrize("kind", [expensive_work, machine_of_others])
def test_in_a_web_process_everything_is_done_on_behalf_of_a_tenant(kind: Kind) -> None:
    configure(8)
    with pytest.raises(ValueError, match="on behalf of a tenant"), kind(""):
        pass
    with on_behalf_of_nobody():
        name_tenant("a")
        with kind(""):
            pass
    with pytest.raises(ValueError, match="on behalf of a tenant"), kind(""):
        pass


def test_a_place_can_be_held_until_the_request_is_answered() -> None:
    configure(8)
    with on_behalf_of_nobody():
        name_tenant("a")
        bounded_json.loads(b"[" + b" " * 100_000 + b"]", 1)
        assert not in_thread(lambda: has_place(expensive_work, "a")), "a large body is expensive"
        assert in_thread(lambda: has_place(expensive_work, "b"))
    assert in_thread(lambda: has_place(expensive_work, "a"))


def test_typesetting_holds_a_place() -> None:
    configure(8)
    with ExitStack() as held:
        in_thread(lambda: held.enter_context(expensive_work("a")))
        name_tenant("a")
        with pytest.raises(NoPlaceError):
            field_picture(FieldContent(100, 20, "x"))
        name_tenant("b")
        assert field_picture(FieldContent(100, 20, "x"))
