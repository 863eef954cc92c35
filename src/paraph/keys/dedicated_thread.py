"""A thread for calls into a library that may hang, so that its callers can stop waiting."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

Returned = TypeVar("Returned")


class DedicatedThread:
    """Makes all calls in one thread, one after the other. A hanging call does not keep the process from ending."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._start()

    def call(self, work: Callable[[], Returned], seconds: float) -> Returned:
        """Calls ``work`` and returns or raises what it does. Raises ``TimeoutError`` after ``seconds``, which include
        the wait for earlier calls; a call that has not begun by then is never made."""
        with self._lock:
            if not self._thread.is_alive():  # the thread belongs to the process from which this one was forked
                self._start()
        waiting: Future[Returned] = Future()
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
        except BaseException as error:  # noqa: BLE001  raised in the caller's thread
            waiting.set_exception(error)
