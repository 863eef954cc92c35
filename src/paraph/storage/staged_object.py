"""What is written before it is known whether it stays."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO


@dataclass(frozen=True)
class StagedObject:
    """``file``: empty at first, to write and to read. ``keep(key)`` makes an object of it, replacing one of the same
    key at once or not at all, durable on return; after that nothing is written any more."""

    file: BinaryIO
    keep: Callable[[str], None]
