"""The faults around the service: of the machines that it needs, of its objects and of its disk."""

import ctypes
import os
import random
import threading
import time
from pathlib import Path

from lab.chaos.faults import Fault
from lab.chaos.world import World
from tests.small_disk import SmallDisk

SETTINGS = {"PARAPH_FREE_SPACE_MB": "16"}
"""The settings of a service on a small disk."""


def surroundings(world: World, data_dir: Path, disk: SmallDisk | None) -> dict[str, Fault]:
    """Return the faults by name, each of up to 2 s. ``disk``: that of the data folder, where it can be filled."""
    kinds: dict[str, Fault] = {
        "mail server": _down(world.mail.down),
        "timestamp authority": _down(world.authority_down),
        "receiver": _down(world.hooks_down),
        "object store": lambda chance: _hide(data_dir / "objects", _seconds(chance)),
    }
    return kinds if disk is None else kinds | {"full disk": lambda chance: disk.keep_full(_seconds(chance))}


def _down(event: threading.Event) -> Fault:
    def fail(chance: random.Random) -> None:
        event.set()
        time.sleep(_seconds(chance))
        event.clear()

    return fail


def _hide(folder: Path, seconds: float) -> None:
    """Put a file where the folder should be, so that every read and write fails."""
    file = folder.with_suffix(".away")
    file.write_text("")
    _exchange(folder, file)
    time.sleep(seconds)
    _exchange(folder, file)
    file.unlink()


def _exchange(one: Path, other: Path) -> None:
    """Swap two paths in one step: between two steps, the service would make the folder anew."""
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    if ctypes.CDLL(None, use_errno=True).renameat2(here, bytes(one), here, bytes(other), exchange):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _seconds(chance: random.Random) -> float:
    return chance.uniform(0.2, 2)
