"""An object that is being written, before it is known whether it will be kept."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO


@dataclass(frozen=True)
class StagedObject:
    """``file`` is empty at first, and can be written and read. ``keep(key)`` stores its content as an object,
    atomically replacing any object of that key and durable on return; afterwards nothing more may be written."""

    file: BinaryIO
    keep: Callable[[str], None]
