"""Whole flows, one after the other, while a test does something to the service."""

import threading
from collections.abc import Callable

from tests.cli.service import wait_until


class Flows(threading.Thread):
    """``once`` does a flow and returns its request's id. ``patience``: seconds that one may take. ``requests``: the
    flows so far. What goes wrong in the thread is raised to whoever waits for it."""

    def __init__(self, once: Callable[[], int], patience: float) -> None:
        super().__init__(daemon=True)
        self._once, self._patience = once, patience
        self._enough = threading.Event()
        self._fault: BaseException | None = None
        self.requests: list[int] = []

    def run(self) -> None:
        try:
            while not self._enough.is_set():
                self.requests.append(self._once())
        except BaseException as fault:  # noqa: BLE001  raised by who waits
            self._fault = fault

    def go_on(self, flows: int) -> None:
        """Returns after so many more."""
        wanted = len(self.requests) + flows
        wait_until(lambda: len(self.requests) >= wanted or self._fault is not None, self._patience)
        self._raise()

    def end(self) -> list[int]:
        """Returns all requests, after the flow at hand."""
        self._enough.set()
        self.join(self._patience)
        self._raise()
        assert not self.is_alive(), "a flow does not end"
        return self.requests

    def _raise(self) -> None:
        if self._fault:
            raise self._fault
