"""Turns at a gateway: who is busy is waited for, who hangs is not."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from paraph.flow.turns import Turns

PATIENCE = 1.0


def test_everybody_has_a_turn_at_a_gateway_that_answers() -> None:
    turns, there, most = Turns(2, PATIENCE), set[int](), list[int]()

    def send(number: int) -> bool:
        with turns.turn() as mine:
            there.add(number)
            most.append(len(there))
            time.sleep(0.02)
            there.remove(number)
            return mine

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(send, range(8)))
    assert max(most) == 2


def test_one_that_hangs_is_waited_for_once() -> None:
    turns, hangs, hanging = Turns(1, PATIENCE), threading.Event(), threading.Event()

    def hang() -> bool:
        with turns.turn() as mine:
            hanging.set()
            hangs.wait(30)
            return mine

    def ask() -> tuple[bool, float]:
        began = time.monotonic()
        with turns.turn() as mine:
            return mine, time.monotonic() - began

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(hang)
        hanging.wait(30)
        mine, waited = ask()
        assert not mine
        assert waited > PATIENCE / 2
        assert [ask()[0] for _ in range(50)] == [False] * 50
        mine, waited = ask()
        assert not mine
        assert waited < PATIENCE / 2
        hangs.set()
        assert first.result()
    assert ask()[0]


def test_a_turn_that_failed_is_over() -> None:
    turns = Turns(1, PATIENCE)
    for _ in range(2):
        try:
            with turns.turn() as mine:
                assert mine
                raise OSError
        except OSError:
            pass
