"""The store of this service: a folder of the data folder, or the bucket at ``PARAPH_STORAGE_URL``; its objects
encrypted where ``PARAPH_STORAGE_KEY`` is set. Keys are plain names between slashes, such as ``documents/3f/3fb2.pdf``
(:mod:`paraph.storage.objects`); any other form raises ``ValueError``. Faults of the disk or the network raise
``AwayError``, a full disk ``OSError``: the calling job is repeated, or the calling request answered with 503."""

import errno
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from paraph.kernel.errors import AwayError, DomainError
from paraph.storage.encrypted import HEADER, EncryptedStore, StorageKeys
from paraph.storage.local import LocalStore
from paraph.storage.objects import StagedObject, Store

LINK_SECONDS = 900  # rule 8
_OF_ROOM = (errno.ENOSPC, errno.EDQUOT)


def put(key: str, content: bytes | BinaryIO) -> None:
    """Store an object, atomically replacing any object of that key. Durable on return.
    A file is read in blocks from its current position to its end."""
    with describing_faults():
        _store().put(key, content)


@contextmanager
def stage() -> Iterator[StagedObject]:
    """Yield an object to write, which is discarded at the end of the block unless it was kept."""
    with ExitStack() as stack:
        with describing_faults():
            staged = stack.enter_context(_store().stage())
        yield StagedObject(staged.file, describing_faults()(staged.keep))


def get(key: str) -> bytes:
    """Return the whole object. Raise ``FileNotFoundError``."""
    with describing_faults(reading=True):
        return _store().get(key)


def open(key: str) -> BinaryIO:
    """Open the object as a seekable file, which the caller closes. Raise ``FileNotFoundError``."""
    with describing_faults(reading=True):
        return _store().open(key)


def delete(*keys: str) -> None:
    """Delete the objects; those that do not exist are ignored."""
    with describing_faults():
        _store().delete(*keys)


def presign(key: str, filename: str, seconds: int = LINK_SECONDS) -> str:
    """Return an address from which anyone may download the object for ``seconds``, saved as ``filename``. Whether the
    object exists is not checked."""
    return _store().presign(key, filename, seconds)


def free_bytes() -> int:
    """Return the free bytes of the disk that staged objects are written to."""
    return _store().free_bytes()


def listing(prefix: str, after: str = "") -> Iterator[tuple[str, int, datetime]]:
    """Yield the key, length and last modification of each object below the folder ``prefix`` (with its slash), in the
    order of the keys, starting after ``after``. At most some thousand keys are in memory at a time."""
    return _store().listing(prefix, after)


def keys_written_before(prefix: str, before: datetime) -> Iterator[str]:
    """Yield the keys below the folder whose objects were last written before the time ``before``."""
    return (key for key, _, written in listing(prefix) if written < before)


def sweep() -> None:
    """Remove what a crash left half written. To be called once, before anything writes."""
    _store().sweep()


def encrypting() -> EncryptedStore:
    """Return the store, which encrypts its objects. Raise ``DomainError("configuration", …)`` unless
    ``PARAPH_STORAGE_KEY`` is set."""
    found = _store()
    if not isinstance(found, EncryptedStore) or not settings.PARAPH.storage_key:
        raise DomainError("configuration", "PARAPH_STORAGE_KEY is not set: there is no key to encrypt with.")
    return found


def lacks_key(key: str) -> bool:
    """Return whether the object is encrypted with a storage key that is not set here. Raise ``FileNotFoundError``."""
    plain, keys, _ = _opened(*_settings())
    with plain.open(key) as file:
        return keys.lacks(file.read(HEADER))


def _store() -> Store:
    return _opened(*_settings())[2]


def _settings() -> tuple[str, str, Path, str, tuple[str, ...]]:
    given = settings.PARAPH
    keys = given.storage_key, tuple(given.storage_key_previous)
    return given.storage_url, given.storage_public_url, settings.DATA_DIR, *keys


@lru_cache(maxsize=4)
def _opened(
    url: str, public_url: str, data_dir: Path, key: str, further: tuple[str, ...]
) -> tuple[Store, StorageKeys, Store]:
    """Return the store without encryption, the storage keys, and the store that encrypts and opens objects with them,
    or the same store if there are no keys."""
    plain = plain_store(url, data_dir, public_url)
    keys = StorageKeys(key, further)
    return plain, keys, EncryptedStore(plain, keys) if key or further else plain


def plain_store(url: str, data_dir: Path, public_url: str = "") -> Store:
    """Return the bucket or, without a URL, the folder in the data folder; its objects are not decrypted."""
    if not url:
        return LocalStore(data_dir / "objects")
    from paraph.storage.remote import RemoteStore  # noqa: PLC0415  its import takes long, and only buckets need it

    return RemoteStore(url, public_url)


def decrypting(plain: Store) -> EncryptedStore:
    """Return a store that opens the objects of ``plain`` with the storage keys that are set here."""
    return EncryptedStore(plain, _opened(*_settings())[1])


@contextmanager
def describing_faults(*, reading: bool = False) -> Iterator[None]:
    """Raise faults of the store's disk or network within the block as ``AwayError``, except those of a full disk and,
    if ``reading``, the ``FileNotFoundError`` of a missing object."""
    try:
        yield
    except OSError as fault:
        kept = (AwayError, FileNotFoundError) if reading else AwayError
        if isinstance(fault, kept) or fault.errno in _OF_ROOM:
            raise
        raise AwayError(fault.errno or errno.EIO, f"the object store fails: {' '.join(str(fault).split())}") from fault
