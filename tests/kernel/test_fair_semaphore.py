"""Places: who is quick is waited for, who is slow never has all of them, who used least is next."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext

import pytest

from paraph.kernel.fair_semaphore import LITTLE, LONG, MUCH, FairSemaphore
from paraph.kernel.recent_use import RecentUse
from tests.pdf.processes import eventually

PATIENCE = 1.0


class Crowd:
    """Threads at the places; each stays until the test lets everybody go."""

    def __init__(self, places: FairSemaphore, threads: ThreadPoolExecutor) -> None:
        self.places = places
        self.order: list[str] = []
        self.over = threading.Event()
        self._threads = threads

    def come(self, tenant_key: str, name: str = "", stay: float = 60) -> Future[bool]:
        return self._threads.submit(self._stay, tenant_key, name or tenant_key, stay)

    def held(self, count: int) -> None:
        assert eventually(lambda: self.places.held() == count)

    def _stay(self, tenant_key: str, name: str, stay: float) -> bool:
        with self.places.place(tenant_key) as visit:
            if visit.has_place:
                self.order.append(name)
                self.over.wait(stay)
            return visit.has_place


@contextmanager
def crowd(places: FairSemaphore | int, seconds: float = PATIENCE, line: int = 2) -> Iterator[Crowd]:
    """Let threads come to the places, or to as many as are said."""
    with ThreadPoolExecutor(40) as threads:
        made = Crowd(FairSemaphore(places, seconds, line) if isinstance(places, int) else places, threads)
        yield made
        made.over.set()


def use(places: FairSemaphore, tenant_key: str, seconds: float) -> None:
    with places.place(tenant_key) as visit:
        assert visit.has_place
        visit.used = seconds


def asks(places: FairSemaphore, tenant_key: str) -> tuple[bool, float]:
    began = time.monotonic()
    with places.place(tenant_key) as visit:
        return visit.has_place, time.monotonic() - began


def test_everybody_has_a_turn_where_all_are_quick() -> None:
    places, there, most = FairSemaphore(3, 20, 0), set[int](), list[int]()

    def visit(number: int) -> bool:
        with places.place("one") as visit:
            there.add(number)
            most.append(len(there))
            time.sleep(0.02)
            there.remove(number)
            return visit.has_place

    with ThreadPoolExecutor(16) as threads:
        assert all(threads.map(visit, range(32)))
    assert max(most) == 2  # the third is for another party
    assert places.held() == 0


def test_one_party_never_has_all_places() -> None:
    with crowd(3) as there:
        hogs = [there.come("hog") for _ in range(10)]
        there.held(2)
        assert asks(there.places, "other")[0]
        assert eventually(lambda: sum(hog.done() for hog in hogs) == 8)
        assert asks(there.places, "other")[0]


def test_who_has_a_single_place_to_share_shares_it() -> None:
    with crowd(1) as there:
        there.come("hog", stay=0.2)
        there.held(1)
        assert asks(there.places, "hog")[0]


def test_parties_that_used_much_have_no_claim_to_the_last_place() -> None:
    with crowd(2) as there:
        for tenant_key in ("a", "b"):
            use(there.places, tenant_key, 2 * LITTLE)
        there.come("a")
        there.held(1)
        assert not asks(there.places, "b")[0]
        assert asks(there.places, "c")[0]


def test_alone_a_party_has_never_had_its_share() -> None:
    with crowd(5) as there:
        use(there.places, "hog", 2 * LITTLE)
        assert not there.places.has_had_share("hog")
        for _ in range(4):
            there.come("hog")
        there.held(4)


def test_who_has_had_its_share_holds_half_of_the_places_and_waits_in_a_short_line() -> None:
    with crowd(5, seconds=20, line=1) as there:
        use(there.places, "hog", 2 * LITTLE)
        use(there.places, "other", LITTLE / 2)
        assert there.places.has_had_share("hog")
        assert not there.places.has_had_share("other")
        hogs = [there.come("hog", stay=5) for _ in range(6)]
        there.held(2)
        assert eventually(lambda: sum(hog.done() for hog in hogs) == 3)  # neither holds a place nor is in the line
        others = [there.come("other") for _ in range(2)]
        there.held(4)
        there.over.set()
        assert all(other.result() for other in others)
        assert sum(hog.result() for hog in hogs) == 3


def test_what_is_at_hand_counts_before_it_ends() -> None:
    places = FairSemaphore(4, PATIENCE, 1)
    with places.place("hog") as visit:
        assert visit.has_place
        assert asks(places, "other")[0]
        assert not places.has_had_share("hog")
        visit.used = MUCH
        assert places.has_had_share("hog")
        assert not places.has_had_share("other")
    assert not places.has_had_share("hog")  # it was a single one


def test_whose_party_used_least_is_next() -> None:
    with crowd(1, seconds=20) as there:
        for tenant_key, seconds in {"much": 4, "some": 2, "little": 1}.items():
            use(there.places, tenant_key, seconds)
        there.come("first", stay=0.5)
        there.held(1)
        for tenant_key in ("much", "some", "little"):
            there.come(tenant_key, stay=0.01)
        assert eventually(lambda: len(there.order) == 4)
        assert there.order == ["first", "little", "some", "much"]


def test_while_somebody_is_slow_few_wait_and_none_for_long() -> None:
    with crowd(1, line=2) as there:
        there.come("slow")
        there.held(1)
        assert not asks(there.places, "slow")[0]  # in vain, as long as anybody does
        line = [there.come("slow") for _ in range(20)]
        assert eventually(lambda: sum(each.done() for each in line) >= 18, seconds=PATIENCE / 2)
        assert eventually(lambda: all(each.done() for each in line), seconds=5)
        assert not any(each.result() for each in line)


@pytest.mark.parametrize("own", [True, False])
def test_what_a_holder_waits_for_makes_nobody_slow_unless_it_is_its_own_work(
    own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paraph.kernel.fair_semaphore.LONG", 0.2)
    places = FairSemaphore(1, PATIENCE, 0)
    with places.place("a") as mine:
        assert mine
        with nullcontext() if own else mine.no_work():
            time.sleep(0.3)
            got, seconds = asks(places, "b")
    assert not got
    assert (seconds < PATIENCE) == own  # turned away at once


def test_alone_nobody_is_turned_away_by_who_holds_a_place_for_long_without_working() -> None:
    """A machine that is busy with other things stretches a few milliseconds of reading over seconds."""
    with crowd(FairSemaphore(1, 0.5, 0, alone=20, by_work=True)) as there:
        there.come("tenant", stay=LONG + 0.5)
        there.held(1)
        line = [there.come("tenant", stay=0) for _ in range(15)]
        assert all(each.result() for each in line)


@pytest.mark.parametrize("why", ["somebody works for long", "another tenant comes"])
def test_patience_ends_as_soon_as_it_would_be_a_burden(why: str) -> None:
    with crowd(FairSemaphore(1, 0.5, 0, alone=20, by_work=True)) as there:
        with there.places.place("tenant") as holder:
            line = [there.come("tenant") for _ in range(5)]
            time.sleep(0.6)
            assert not any(each.done() for each in line)
            if why == "somebody works for long":
                holder.used = LONG
            else:
                assert not asks(there.places, "other")[0]
            assert eventually(lambda: all(each.done() for each in line), seconds=5)
        assert not any(each.result() for each in line)


@pytest.mark.thorough
def test_of_the_party_with_most_in_the_line_the_last_is_turned_away() -> None:
    with crowd(1, seconds=3, line=2) as there:
        slow = there.come("slow", stay=4.5)
        there.held(1)
        time.sleep(3.1)
        first, second = there.come("hog", stay=0), there.come("hog", stay=0)
        time.sleep(0.2)
        other = there.come("other", stay=0)
        assert eventually(second.done, seconds=1)
        assert not first.done()
        assert other.result()
        assert slow.result()


def test_a_place_whose_holder_fails_is_free_again() -> None:
    places = FairSemaphore(1, PATIENCE, 1)
    for _ in range(2):
        with pytest.raises(OSError), places.place("a") as mine:
            assert mine
            raise OSError


def test_what_is_told() -> None:
    told: list[tuple[float, bool]] = []
    places = FairSemaphore(1, 0.2, 1, lambda seconds, mine: told.append((seconds, mine)))
    with places.place("a"):
        assert not told
        assert not asks(places, "b")[0]
    [(waited, mine)] = told
    assert waited >= 0.2
    assert not mine


def test_use_fades_and_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("paraph.kernel.recent_use.time.monotonic", lambda: now[0])
    used = RecentUse()
    used.add("a", 8)
    now[0] += 60
    used.add("a", 1)
    assert used.of("a") == pytest.approx(5)
    assert used.of("b") == 0
    for number in range(5000):
        used.add(str(number), 0.02)
        now[0] += 1
    assert len(used._used) < 2000
