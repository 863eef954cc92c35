"""What a worker tells of itself: a file in the data folder, which is renewed while all of its parts turn and says what
keeps it from working, and systemd's watchdog. ``scripts/healthy`` reads the file."""

import asyncio
import faulthandler
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import structlog

_EVERY_SECONDS = 2.0
_STILL_SECONDS = 60

log = structlog.get_logger("paraph.worker")


async def tell(data_dir: Path, due: Callable[[], dict[str, float]], trouble: Callable[[], str]) -> None:
    """Tell for ever that this process turns, and its trouble, "" for none. ``due``: by when, on the monotonic clock,
    each of its parts has to turn again.

    Once a part is late, or this has not run for a minute, the process ends, and says where its threads are: nobody can
    end a thread, every job is safe to repeat, and whatever keeps workers running starts another."""
    path, before = data_dir / "alive" / f"worker-{socket.gethostname()}-{os.getpid()}", None
    _make_room(path)
    while True:
        faulthandler.dump_traceback_later(_STILL_SECONDS, exit=True)
        if late := [part for part, moment in due().items() if moment < time.monotonic()]:
            log.error("a part of this worker stands still, and the worker ends", parts=late)
            faulthandler.dump_traceback()
            os._exit(1)
        with suppress(OSError):  # a full disk ends no worker
            if before != (now := trouble()):
                path.write_text(now)
                before = now
            os.utime(path, (time.time(), time.time()))  # of this machine, also where another one has the disk
        _tell_systemd("READY=1\nWATCHDOG=1")
        await asyncio.sleep(_EVERY_SECONDS)


def _make_room(path: Path) -> None:
    """Make the folder, without what processes left there that ended a day ago or more."""
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for each in path.parent.iterdir():
            if time.time() - each.stat().st_mtime > 86_400:
                each.unlink(missing_ok=True)


def _tell_systemd(words: str) -> None:
    """Say it where a unit of ``Type=notify`` started the process (sd_notify)."""
    if address := os.environ.get("NOTIFY_SOCKET"):
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as there:
            there.sendto(words.encode(), address.replace("@", "\0", 1) if address[0] == "@" else address)
