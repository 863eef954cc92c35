"""Clients that do not take what is sent to them are cut off (docs/decisions/slow-readers.md)."""

import logging
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from paraph.kernel import machine
from paraph.server.connections import Connection, connections_to
from paraph.server.outgoing_body import DownloadPlaces, places

RATE = 16 * 1024  # bytes a second that a client must take while something waits for it
PATIENCE = 20.0  # seconds that it may fall behind
GRACE = 2.0  # and where others wait for its place, or
FEW = 64  # more than so many have been behind for as long: what is sent to them lies in memory


@dataclass
class _Reader:
    """What was seen of a client. ``behind``: seconds of data at RATE that it should have taken by now and has not."""

    looked: float
    taken: int
    behind: float = 0.0


class SlowReaders:
    """Compare what clients have taken from one look to the next."""

    def __init__(self) -> None:
        self._readers: dict[str, _Reader] = {}

    def among(self, connections: Sequence[Connection], now: float, *, crowded: bool) -> list[Connection]:
        waited_for = [each for each in connections if each.untaken]
        self._readers = {each.name: self._reader(each, now) for each in waited_for}
        late = [each for each in waited_for if self._readers[each.name].behind > GRACE]
        if crowded or len(late) > FEW:
            return late
        return [each for each in late if self._readers[each.name].behind > PATIENCE]

    def _reader(self, connection: Connection, now: float) -> _Reader:
        before = self._readers.get(connection.name) or _Reader(now, connection.taken)
        made_good = (connection.taken - before.taken) / RATE
        return _Reader(now, connection.taken, max(0.0, before.behind + now - before.looked - made_good))


log = logging.getLogger("paraph.server")

_EVERY = 0.5
_LATELY = 2.0


def start() -> None:
    """Start the thread. To be called once in each process that serves."""
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
