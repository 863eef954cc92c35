"""Calls into a library that may hang: it hangs in a thread of its own, and whoever asks stops waiting."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

Result = TypeVar("Result")


class DedicatedThread:
    """Does one call after the other, all in the same thread. It ends with the process, hanging or not."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._start()

    def call(self, work: Callable[[], Result], seconds: float) -> Result:
        """What ``work`` returns or raises. Raises ``TimeoutError`` when it has not ended within ``seconds``, its turn
        waited for; a call whose turn has not come is not made then."""
        with self._lock:
            if not self._thread.is_alive():  # this process was forked from the one that started it
                self._start()
        waiting: Future[Result] = Future()
        self._calls.put((waiting, work))
        try:
            return waiting.result(seconds)
        except TimeoutError:
            waiting.cancel()
            raise

    def _start(self) -> None:
        self._calls: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=_serve, args=(self._calls,), name=self._name, daemon=True)
        self._thread.start()


def _serve(calls: "queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]]") -> None:
    while True:
        waiting, work = calls.get()
        if not waiting.set_running_or_notify_cancel():
            continue
        try:
            waiting.set_result(work())
        except BaseException as error:  # noqa: BLE001  it belongs to whoever asked
            waiting.set_exception(error)
