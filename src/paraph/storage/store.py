"""The store of this service: a folder of the data folder, or the bucket at ``PARAPH_STORAGE_URL``.

Keys are plain names between slashes, such as ``documents/3f/3fb2.pdf`` (:mod:`paraph.storage.object_keys`);
another form raises ``ValueError``. Faults of the disk or the network raise ``OSError`` or obstore's errors:
callers are jobs or requests, and both are repeated or answered with 500.
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
    """Stores an object, replacing one of the same key at once or not at all. Durable on return.
    A file is read from where it stands to its end, in blocks."""
    _store().put(key, content)


def stage() -> AbstractContextManager[StagedObject]:
    """Something to write that is not yet an object. What was not kept on leaving is gone."""
    return _store().stage()


def get(key: str) -> bytes:
    """The whole object. Raises ``FileNotFoundError``."""
    return _store().get(key)


def open(key: str) -> BinaryIO:
    """A seekable file to read; the caller closes it. Raises ``FileNotFoundError``."""
    return _store().open(key)


def delete(key: str) -> None:
    """Removes the object; nothing happens when there is none."""
    _store().delete(key)


def presign(key: str, filename: str, seconds: int = LINK_SECONDS) -> str:
    """An address from which anyone may download the object for ``seconds``, saved as ``filename``.
    Signs without looking: the object need not exist."""
    return _store().presign(key, filename, seconds)


def free_bytes() -> int:
    """Bytes that the disk still has where drafts are written."""
    return _store().free_bytes()


def keys_written_before(prefix: str, before: datetime) -> Iterator[str]:
    """The keys that begin with ``prefix`` (a folder, with its slash) and were last written before that moment."""
    return _store().keys_written_before(prefix, before)


def sweep() -> None:
    """Removes what a crash left half written. Called once, before anything writes."""
    _store().sweep()


def _store() -> Store:
    return _open(settings.PARAPH.storage_url, settings.DATA_DIR)


@lru_cache(maxsize=4)
def _open(url: str, data_dir: Path) -> Store:
    if not url:
        return LocalStore(data_dir / "objects")
    from paraph.storage.remote import RemoteStore  # noqa: PLC0415  only those with a bucket wait for its import

    return RemoteStore(url)
