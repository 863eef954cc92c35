"""A call that hangs keeps nobody waiting, and what follows it works."""

import threading

import pytest

from paraph.keys.pkcs11_key import DedicatedThread


def test_results_and_errors_come_back_from_one_thread() -> None:
    thread = DedicatedThread("test")
    first, second = (thread.call(threading.get_ident, 5) for _ in range(2))
    assert first == second != threading.get_ident()
    with pytest.raises(ZeroDivisionError):
        thread.call(lambda: 1 // 0, 5)
    assert thread.call(lambda: "still there", 5) == "still there"


def test_a_hanging_call_is_left_and_those_behind_it_are_never_made() -> None:
    thread, released, made = DedicatedThread("test"), threading.Event(), list[str]()
    for work in (released.wait, lambda: made.append("too late")):
        with pytest.raises(TimeoutError):
            thread.call(work, 0.05)
    released.set()
    thread.call(lambda: made.append("after"), 5)
    assert made == ["after"]
