"""The store of this service: a folder of the data folder, or the bucket at ``PARAPH_STORAGE_URL``.

Keys are plain names between slashes, such as ``documents/3f/3fb2.pdf`` (:mod:`paraph.storage.object_keys`); any other
form raises ``ValueError``. Faults of the disk or the network raise ``OSError`` or obstore's errors: the calling job is
repeated, or the calling request answered with 500.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Protocol

from django.conf import settings

from paraph.storage.local import LocalStore
from paraph.storage.staged_object import StagedObject

LINK_SECONDS = 900  # specification 8


class Store(Protocol):
    def put(self, key: str, content: bytes | BinaryIO) -> None: ...
    def stage(self) -> AbstractContextManager[StagedObject]: ...
    def get(self, key: str) -> bytes: ...
    def open(self, key: str) -> BinaryIO: ...
    def delete(self, key: str) -> None: ...
    def presign(self, key: str, filename: str, seconds: int) -> str: ...
    def free_bytes(self) -> int: ...
    def keys_written_before(self, prefix: str, before: datetime) -> Iterator[str]: ...
    def sweep(self) -> None: ...


def put(key: str, content: bytes | BinaryIO) -> None:
    """Stores an object, atomically replacing any object of that key. Durable on return.
    A file is read in blocks from its current position to its end."""
    _store().put(key, content)


def stage() -> AbstractContextManager[StagedObject]:
    """A context manager that gives an object to write. It is discarded on leaving unless it was kept."""
    return _store().stage()


def get(key: str) -> bytes:
    """Returns the whole object. Raises ``FileNotFoundError``."""
    return _store().get(key)


def open(key: str) -> BinaryIO:
    """Opens the object as a seekable file, which the caller closes. Raises ``FileNotFoundError``."""
    return _store().open(key)


def delete(key: str) -> None:
    """Deletes the object, if there is one."""
    _store().delete(key)


def presign(key: str, filename: str, seconds: int = LINK_SECONDS) -> str:
    """An address from which anyone may download the object for ``seconds``, saved as ``filename``. It is signed without
    looking whether the object exists."""
    return _store().presign(key, filename, seconds)


def free_bytes() -> int:
    """The free bytes of the disk that staged objects are written to."""
    return _store().free_bytes()


def keys_written_before(prefix: str, before: datetime) -> Iterator[str]:
    """The keys below the folder ``prefix`` (with its slash) whose objects were last written before that time."""
    return _store().keys_written_before(prefix, before)


def sweep() -> None:
    """Removes what a crash left half written. To be called once, before anything writes."""
    _store().sweep()


def _store() -> Store:
    return _open(settings.PARAPH.storage_url, settings.DATA_DIR)


@lru_cache(maxsize=4)
def _open(url: str, data_dir: Path) -> Store:
    if not url:
        return LocalStore(data_dir / "objects")
    from paraph.storage.remote import RemoteStore  # noqa: PLC0415  its import takes long, and only buckets need it

    return RemoteStore(url)
