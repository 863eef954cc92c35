"""Faults at random moments, from a seed."""

import contextlib
import ctypes
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.chaos.world import World
from tests.cli.service import Service

_KILLED = ("paraph-web", "paraph-worker", "postgres")
_RESTARTS = {"fast restart of the database": signal.SIGINT, "immediate restart of the database": signal.SIGQUIT}
KINDS = (*_KILLED, *_RESTARTS, "mail server", "timestamp authority", "receiver", "object store")


class Faults(threading.Thread):
    """Until stopped, for at most ``seconds``: kills a process of the service (SIGKILL), or has a part of the world
    fail for a while. ``injected`` counts them."""

    def __init__(self, service: Service, world: World, *, seed: int, pause: float, seconds: float) -> None:
        super().__init__(daemon=True)
        self.injected: Counter[str] = Counter()
        self._service = service
        self._world = world
        self._random = random.Random(seed)
        self._pause = pause
        self._seconds = seconds
        self._stopping = threading.Event()

    def run(self) -> None:
        end = time.monotonic() + self._seconds
        kinds = self._kinds()
        while not self._stopping.wait(self._random.uniform(0.5, 1.5) * self._pause) and time.monotonic() < end:
            kind = next(kinds)
            self.injected[kind] += 1
            if kind in _KILLED:
                self._kill(kind)
            elif kind in _RESTARTS:
                self._restart(_RESTARTS[kind])
            else:
                self._fail(kind, self._random.uniform(0.2, 2))

    def go_on_until(self, count: int) -> bool:
        """Whether more faults are to come before there were ``count``."""
        return self.injected.total() < count and self.is_alive()

    def stop(self) -> None:
        self._stopping.set()
        self.join()

    def _kinds(self) -> Iterator[str]:
        """Each as often as the others, in no order."""
        while True:
            yield from self._random.sample(KINDS, len(KINDS))

    def _kill(self, name: str) -> None:
        found = [pid for pid in self._service.processes() if _name(pid) == name]
        if found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._random.choice(sorted(found)), signal.SIGKILL)

    def _restart(self, mode: signal.Signals) -> None:
        """As ``pg_ctl`` asks for it. No worker may end by it: nobody would start it again but a supervisor."""
        file = (self._service.data_dir / "postgres" / "cluster" / "postmaster.pid").resolve()
        with contextlib.suppress(OSError, ValueError, IndexError):  # it is just starting again
            os.kill(int(file.read_text().split(maxsplit=1)[0]), mode)

    def _fail(self, kind: str, seconds: float) -> None:
        if kind == "object store":
            self._hide_objects(seconds)
            return
        world = self._world
        down = {
            "mail server": world.mail.down,
            "timestamp authority": world.authority_down,
            "receiver": world.hooks_down,
        }[kind]
        down.set()
        time.sleep(seconds)
        down.clear()

    def _hide_objects(self, seconds: float) -> None:
        """A file where the folder should be: every read and write fails."""
        folder = self._service.data_dir / "objects"
        file = folder.with_suffix(".away")
        file.write_text("")
        _exchange(folder, file)
        time.sleep(seconds)
        _exchange(folder, file)
        file.unlink()


def _exchange(one: Path, other: Path) -> None:
    """At once: in between the service would make the folder anew."""
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    if ctypes.CDLL(None, use_errno=True).renameat2(here, bytes(one), here, bytes(other), exchange):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
