"""Objects: the form of their keys, staged objects, the interface of every store, and presigned addresses, which
:mod:`paraph.files` serves while they are valid."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from io import RawIOBase
from typing import BinaryIO, Protocol
from urllib.parse import quote, urlencode

from django.conf import settings

from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError

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
    """An object that is being written. ``file`` is empty at first. ``keep(key)`` stores its content, atomically
    replacing any object of that key and durable on return; afterwards nothing more may be written."""

    file: BinaryIO
    keep: Callable[[str], None]


class SeekableFile(RawIOBase):
    """An object that is open for reading, at any place."""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


class Store(Protocol):
    """A place for objects. Faults of the disk or the network raise ``OSError``, also when an opened file is read."""

    def put(self, key: str, content: bytes | BinaryIO) -> None: ...
    def stage(self) -> AbstractContextManager[StagedObject]: ...
    def get(self, key: str) -> bytes: ...
    def open(self, key: str) -> BinaryIO: ...
    def delete(self, *keys: str) -> None: ...
    def presign(self, key: str, filename: str, seconds: int) -> str: ...
    def free_bytes(self) -> int: ...
    def listing(self, prefix: str, after: str) -> Iterator[tuple[str, int, datetime]]: ...
    def sweep(self) -> None: ...


def presigned_url(key: str, filename: str, seconds: int) -> str:
    """Return ``{public_url}/files/{key}?expires=…&filename=…&signature=…``, valid for ``seconds`` from now."""
    expires = int(clock.now().timestamp()) + seconds
    signature = _signatures(checked_key(key), str(expires), filename)[0]
    query = urlencode({"expires": expires, "filename": filename, "signature": signature})
    return f"{settings.PARAPH.public_url}/files/{quote(key)}?{query}"


def check_link(key: str, expires: str, filename: str, signature: str) -> None:
    """Raise ``DomainError("forbidden", …)`` unless the signature is ours and covers exactly these values, and the link
    has not expired."""
    given = signature.encode(errors="surrogatepass")
    if not any(tokens.same(expected.encode(), given) for expected in _signatures(key, expires, filename)):
        raise DomainError("forbidden", "This link is not valid: it was changed or cut.")
    if int(expires) < clock.now().timestamp():
        raise DomainError("forbidden", "This link has expired: ask for the resource again to get a fresh one.")


def _signatures(*parts: str) -> list[str]:
    """Return the signature by each secret, first the one by the secret in use."""
    signed = [part.encode(errors="surrogatepass") for part in parts]
    return [tokens.keyed_hash(key, *signed).hex() for key in settings.SECRETS.keys("files")]
