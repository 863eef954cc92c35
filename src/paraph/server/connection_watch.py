"""A thread of each web process that looks at its connections twice a second. It resets those whose clients do not take
what is sent to them, and idle ones where there are too many. Linux only."""

import logging
import sys
import threading
import time

from django.conf import settings

from paraph.kernel import machine
from paraph.server.connections import connections_to
from paraph.server.outgoing_body import DownloadPlaces, places
from paraph.server.silent_connections import too_many
from paraph.server.slow_readers import SlowReaders

log = logging.getLogger("paraph.server")

_EVERY = 0.5
_LATELY = 2.0


def start() -> None:
    """Starts the thread. To be called once in each process that serves."""
    if sys.platform == "linux":
        threading.Thread(target=ConnectionWatch(places()).run, name="connections", daemon=True).start()


class ConnectionWatch:
    def __init__(self, downloads: DownloadPlaces) -> None:
        self._downloads = downloads
        self._readers = SlowReaders()
        self._most = machine.connections() // 2

    def run(self) -> None:
        took = 0.0
        while True:
            time.sleep(max(_EVERY, 4 * took))  # a look at thousands takes a tenth of a second
            began = time.monotonic()
            try:
                self.look(began)
                took = time.monotonic() - began
            except Exception:  # whatever this system does not tell
                log.exception("connections cannot be looked after on this system")
                return

    def look(self, now: float) -> None:
        with connections_to(settings.PARAPH.port) as connections:
            crowded = now - self._downloads.wanted < _LATELY or len(connections) > self._most
            for each in self._readers.among(connections, now, crowded=crowded):
                each.reset()
            for each in too_many(connections, self._most):
                each.reset()
