"""Turns: a party that has had its share has few threads while others come as well, and is refused beyond them."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from paraph.kernel import cpu_share
from paraph.kernel.cpu_share import CpuShareExceededError
from tests.kernel.turn_holders import Holders
from tests.pdf.processes import eventually


@pytest.fixture(autouse=True)
def afterwards() -> Iterator[None]:
    yield
    cpu_share.configure(None)


@pytest.fixture
def holders() -> Iterator[Holders]:
    with ThreadPoolExecutor(40) as threads:
        made = Holders(threads)
        yield made
        made.over.set()


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes has had its share, where others come as well."""
    monkeypatch.setattr("paraph.kernel.fair_semaphore.LITTLE", 0.0)


def asks(tenant_key: str) -> bool:
    with cpu_share.request:
        try:
            cpu_share.acquire(tenant_key)
        except CpuShareExceededError:
            return False
        return True


def test_nothing_is_bounded_where_nobody_says_how_many_threads_there_are(spent: None, holders: Holders) -> None:
    holders.take("hog", 30)
    assert asks("hog") and asks("other")


def test_alone_a_party_has_every_thread(spent: None, holders: Holders) -> None:
    cpu_share.configure(8)
    holders.take("hog", 8)


def test_whoever_has_used_little_has_every_thread_that_is_left(holders: Holders) -> None:
    cpu_share.configure(8)
    assert asks("other")
    holders.take("hog", 7)
    assert asks("other")


def test_who_has_had_its_share_has_a_quarter_of_the_threads_while_others_come(spent: None, holders: Holders) -> None:
    cpu_share.configure(7)  # fewer than eight, of which three could wait
    assert asks("other")
    holders.take("hog", 1)
    assert not asks("hog")
    assert asks("other")
    assert not asks("hog")
    holders.over.set()
    assert eventually(lambda: asks("hog"))


def test_three_in_eight_may_wait_for_a_while(spent: None, holders: Holders) -> None:
    cpu_share.configure(8)
    assert asks("other")
    holders.take("hog", 2)
    waits = [holders.come("hog") for _ in range(3)]
    assert not asks("hog")  # the last of the line is turned away at once
    assert not any(each.done() for each in waits)
    holders.over.set()
    assert all(each.result() for each in waits)


def test_what_a_thread_uses_of_a_processor_is_charged_to_the_party(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.kernel.fair_semaphore.LITTLE", 0.05)
    cpu_share.configure(1)
    assert asks("other")
    with cpu_share.request:
        cpu_share.acquire("sleeper")
        time.sleep(0.1)
    with cpu_share.request:
        cpu_share.acquire("worker")
        spin(0.06)
    assert has_had_share("worker")
    assert not has_had_share("sleeper")


def test_refused_calls_are_charged_as_well(monkeypatch: pytest.MonkeyPatch, spent: None, holders: Holders) -> None:
    cpu_share.configure(4)
    assert asks("other")
    holders.take("hog", 1)
    with cpu_share.request, pytest.raises(CpuShareExceededError):
        spin(0.06)
        cpu_share.acquire("hog")
    holders.over.set()
    assert asks("other")
    monkeypatch.setattr("paraph.kernel.fair_semaphore.LITTLE", 0.05)
    assert has_had_share("hog")


def test_a_turn_ends_with_its_request(spent: None) -> None:
    cpu_share.configure(4)
    assert asks("other")
    for _ in range(3):
        with pytest.raises(OSError), cpu_share.request:
            cpu_share.acquire("hog")
            cpu_share.acquire("hog")  # one turn for one request
            raise OSError
    cpu_share.acquire("hog")  # within none: a job, say
    assert asks("hog")


def has_had_share(tenant_key: str) -> bool:
    assert cpu_share._threads
    return cpu_share._threads.has_had_share(tenant_key)


def spin(seconds: float) -> None:
    began = time.thread_time()
    while time.thread_time() < began + seconds:
        pass
