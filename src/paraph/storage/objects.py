"""Objects: the form of their keys, one that is being written, and what every kind of store does."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from io import RawIOBase
from typing import BinaryIO, Protocol

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*", re.ASCII)
_LONGEST = 200  # the length of the columns that hold keys


def checked_key(key: str) -> str:
    """Return the key. Raise ``ValueError`` unless it consists of plain names between single slashes; no name is empty
    or starts with a dot, so that no key leads out of the store or to its staged objects."""
    if len(key) > _LONGEST or not _KEY.fullmatch(key):
        raise ValueError(f"not an object key: {key!r}")
    return key


def folder_of(number: int) -> str:
    """Return the folder for the objects of the row with this id. A thousand rows share a folder, because making a
    folder durable takes as long as storing a file."""
    return str(number // 1000)


@dataclass(frozen=True)
class StagedObject:
    """``file`` is empty at first, and can be written and read. ``keep(key)`` stores its content as an object,
    atomically replacing any object of that key and durable on return; afterwards nothing more may be written."""

    file: BinaryIO
    keep: Callable[[str], None]


class SeekableFile(RawIOBase):
    """An object that is open for reading, at any place."""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


class Store(Protocol):
    """What a disk or a network does raises ``OSError``; so does reading, later, from a file that was opened."""

    def put(self, key: str, content: bytes | BinaryIO) -> None: ...
    def stage(self) -> AbstractContextManager[StagedObject]: ...
    def get(self, key: str) -> bytes: ...
    def open(self, key: str) -> BinaryIO: ...
    def delete(self, *keys: str) -> None: ...
    def presign(self, key: str, filename: str, seconds: int) -> str: ...
    def free_bytes(self) -> int: ...
    def listing(self, prefix: str, after: str) -> Iterator[tuple[str, int, datetime]]: ...
    def sweep(self) -> None: ...
