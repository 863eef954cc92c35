"""Who is closed for reading, and who is left alone. Real connections; the time between two looks is made up."""

import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from paraph.server import slow_bodies
from paraph.server.connections import Connection, connections_to
from paraph.server.slow_bodies import RATE, Wait, Watch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at connections as Linux tells of them")

TICK = 0.02  # seconds: kernels count time in hundredths, or finer


class Side:
    """A client and our end of its connection."""

    def __init__(self, server: socket.socket) -> None:
        self.client = socket.create_connection(server.getsockname())
        self.ours, _ = server.accept()
        self.ours.setblocking(False)

    def send(self, size: int = 100) -> None:
        self.client.sendall(bytes(size))
        self.taken(size)

    def taken(self, size: int) -> None:
        deadline = time.monotonic() + 5
        while size and time.monotonic() < deadline:
            try:
                size -= len(self.ours.recv(size))
            except BlockingIOError:
                time.sleep(0.001)

    def answer(self, at_once: bool = False) -> None:
        time.sleep(0 if at_once else TICK)
        self.ours.sendall(b"HTTP/1.1 413")
        self.client.recv(100)
        time.sleep(TICK)

    @property
    def closed(self) -> bool:
        try:
            return self.ours.recv(1) == b""
        except BlockingIOError:
            return False


@pytest.fixture
def server(settings: Any) -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        changes = {"port": listening.getsockname()[1], "web_threads": 4, "body_seconds": 20}
        settings.PARAPH = settings.PARAPH.model_copy(update=changes)
        yield listening


@pytest.fixture
def sides(server: socket.socket) -> Iterator[list[Side]]:
    """Three clients, each of which has sent something, in this order."""
    made = []
    for _ in range(3):
        made.append(Side(server))
        made[-1].send()
        time.sleep(TICK)
    yield made
    for side in made:
        side.client.close()
        side.ours.close()


def look_twice(watch: Watch, seconds: float, waits: int = 1, **wait: Any) -> None:
    """With that time between."""
    now = time.monotonic()
    all_waits = [Wait(now - 0.6, **wait) for _ in range(waits)]
    watch.look(all_waits, now)
    watch.look(all_waits, now + seconds)


def test_what_the_kernel_tells(server: socket.socket, sides: list[Side]) -> None:
    sides[0].send(900)
    sides[1].answer()
    with connections_to(server.getsockname()[1]) as found:
        told = {each.name: (each.received, each.owes) for each in found}
    expected = [(1000, True), (100, False), (100, True)]
    assert told == {str(side.client.getsockname()): facts for side, facts in zip(sides, expected, strict=True)}


@pytest.mark.parametrize(("seconds", "closed"), [(19, False), (21, True)])
def test_silence_is_over_in_time(sides: list[Side], seconds: float, closed: bool) -> None:
    look_twice(Watch(), seconds, waits=2)
    assert [side.closed for side in sides] == [closed, closed, False]


def test_who_queues_is_not_taken_for_late(sides: list[Side]) -> None:
    """One thread waits for a body: the oldest keeps it, and the others may have sent everything."""
    look_twice(Watch(), 21)
    assert [side.closed for side in sides] == [True, False, False]


def test_an_answer_still_leaves(sides: list[Side]) -> None:
    look_twice(Watch(), 21)
    sides[0].ours.sendall(b"HTTP/1.1 408")
    assert sides[0].client.recv(100) == b"HTTP/1.1 408"


def test_who_brings_enough_may_take_long(sides: list[Side]) -> None:
    watch, now, wait = Watch(), time.monotonic(), [Wait(time.monotonic())] * 3
    watch.look(wait, now)
    sides[1].send(3 * RATE)
    watch.look(wait, now + 22)
    assert [side.closed for side in sides] == [True, False, True]
    watch.look(wait, now + 24)
    assert sides[1].closed


def test_who_was_answered_owes_nothing(sides: list[Side]) -> None:
    sides[0].answer()
    look_twice(Watch(), 100, waits=3)
    assert [side.closed for side in sides] == [False, True, True]


def test_who_is_idle_goes_after_who_owes(sides: list[Side], monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked and answered within one tick of the kernel's clock, the first only seems to owe."""
    sides[0].answer()

    @contextmanager
    def coarse(port: int) -> Iterator[list[Connection]]:
        with connections_to(port) as found:
            yield [replace(each, silent=each.answered) if each.ever else each for each in found]

    monkeypatch.setattr(slow_bodies, "connections_to", coarse)
    watch = Watch()
    look_twice(watch, 2, waits=3)
    assert [side.closed for side in sides] == [False, True, False]
    look_twice(watch, 2, waits=4)
    assert [side.closed for side in sides] == [True, True, True]


def test_half_of_the_threads_may_wait_and_the_oldest_go_first(sides: list[Side]) -> None:
    look_twice(Watch(), 2, waits=2)
    assert [side.closed for side in sides] == [False] * 3
    look_twice(Watch(), 2, waits=3)
    assert [side.closed for side in sides] == [True, False, False]


def test_nobody_goes_before_the_grace_is_over(sides: list[Side]) -> None:
    look_twice(Watch(), 0.3, waits=3)
    assert [side.closed for side in sides] == [False] * 3


def test_a_long_answer_is_no_slow_question(sides: list[Side], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_bodies, "_working", {1: time.monotonic()})
    look_twice(Watch(), 1000)
    assert [side.closed for side in sides] == [False] * 3


def test_who_was_answered_early_and_stays_is_let_go(sides: list[Side]) -> None:
    sides[0].answer()
    answered = time.monotonic()
    time.sleep(1.1)
    now = time.monotonic()
    Watch().look([Wait(now - 1.1, answered)], now)
    assert [side.closed for side in sides] == [True, False, False]


def test_connections_of_others_are_left_alone(server: socket.socket, sides: list[Side]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        other = Side(elsewhere)
        other.send()
        look_twice(Watch(), 1000)
        assert not other.closed and sides[0].closed
        other.client.close()
        other.ours.close()


def test_a_system_that_tells_nothing_is_said_so_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(port: int) -> None:
        raise NotADirectoryError("/proc/self/fd")

    some_wait = threading.Event()
    some_wait.set()
    monkeypatch.setattr(slow_bodies, "connections_to", broken)
    monkeypatch.setattr(slow_bodies, "_waits", {1: Wait(time.monotonic() - 10)})
    monkeypatch.setattr(slow_bodies, "_some_wait", some_wait)  # the thread of this process goes on with its own
    Watch().run()  # which returns
    assert "slow clients cannot be told" in caplog.text


def test_a_thread_that_waits_is_watched_over(sides: list[Side], settings: Any) -> None:
    """The whole: a read that blocks is ended by the thread that watches."""
    settings.PARAPH = settings.PARAPH.model_copy(update={"body_seconds": 1})
    sides[0].ours.setblocking(True)
    began = time.monotonic()
    with slow_bodies.waiting():
        assert sides[0].ours.recv(100) == b""
    assert time.monotonic() - began > 0.9
    assert "slow-clients" in [thread.name for thread in threading.enumerate()]
