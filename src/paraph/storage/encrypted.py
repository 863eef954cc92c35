"""A store whose objects are encrypted with ``PARAPH_STORAGE_KEY``. Objects that are not encrypted stay readable.

The form of an encrypted one: a header, then the content in chunks. The header is a mark of 16 bytes, the id of the
storage key (8), and the object's random key encrypted with it (AES-256-GCM: 12 + 32 + 16), bound to the name of the
object. A chunk has 64 KiB of the content, the last one at most as much, encrypted with the object's key. Its nonce is
its number and whether it is the last, so that missing, moved or added chunks are detected. The length of the content
follows from that of the object.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from shutil import copyfileobj
from typing import Any, BinaryIO, cast

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from paraph.kernel import tokens
from paraph.storage.objects import SeekableFile, StagedObject, Store, checked_key, presigned_url

MARK = b"\x89PARAPH-ENC\r\n\x1a\n\x01"
CHUNK = 64 * 1024
_ID, _TAG, _NONCE, _KEY = 8, 16, 12, 32
HEADER = len(MARK) + _ID + _NONCE + _KEY + _TAG
STORED_CHUNK = CHUNK + _TAG


class DamagedObjectError(OSError):
    """An object was changed or cut off, or stored under another name."""


class UnknownStorageKeyError(OSError):
    """An object is encrypted with a storage key that is not set here."""


class StorageKeys:
    """``current``: the storage key of new objects, "" to leave them unencrypted. ``further`` keys also open objects."""

    def __init__(self, current: str, further: Sequence[str] = ()) -> None:
        self._keys = {_key_id(key): tokens.derive(key.encode(), "object-keys") for key in (current, *further) if key}
        self.encrypt = bool(current)
        self._current = _key_id(current)

    def encrypted(self, name: str, read: Callable[[int], bytes]) -> Iterator[bytes]:
        """Yield the parts of an object with this name, whose content ``read`` gives, encrypted by the current key."""
        key = tokens.random_bytes(_KEY)
        yield self.header(name, key)
        cipher, number, block = AESGCM(key), 0, read(CHUNK)
        while True:
            while len(block) < CHUNK and (more := read(CHUNK - len(block))):
                block += more
            following = read(CHUNK) if len(block) == CHUNK else b""
            yield cipher.encrypt(_nonce(number, last=not following), block, None)
            if not following:
                return
            number, block = number + 1, following

    def header(self, name: str, key: bytes) -> bytes:
        """Return the header of an object with this name and key, encrypted by the current storage key."""
        start = MARK + self._current
        return start + tokens.encrypt(self._keys[self._current], key, start + name.encode())

    def key_in(self, header: bytes, name: str) -> bytes:
        """Return the object's key. Raise :class:`UnknownStorageKeyError`, :class:`DamagedObjectError`."""
        start = header[: len(MARK) + _ID]
        opening = self._keys.get(start[len(MARK) :])
        if opening is None:
            raise UnknownStorageKeyError(f"{name} is encrypted with a storage key that is not set here")
        try:
            return tokens.decrypt(opening, header[len(start) :], start + name.encode())
        except ValueError as error:
            raise damaged(name) from error

    def is_current(self, header: bytes) -> bool:
        """Return whether an object with this header is encrypted with the current storage key."""
        return header.startswith(MARK + self._current)

    def lacks(self, header: bytes) -> bool:
        """Return whether an object with this header is encrypted with a storage key that is not set here."""
        return is_encrypted(header) and header[len(MARK) : len(MARK) + _ID] not in self._keys


def is_encrypted(start: bytes) -> bool:
    """Return whether an object that starts with these bytes is encrypted."""
    return start.startswith(MARK)


def content_size(stored: int, name: str) -> int:
    """Return the length of the content of an object of ``stored`` bytes. Raise :class:`DamagedObjectError`."""
    chunks = -(-(stored - HEADER) // STORED_CHUNK)
    size = stored - HEADER - _TAG * chunks
    if chunks < 1 or size < (chunks - 1) * CHUNK:
        raise damaged(name)
    return size


def damaged(name: str) -> DamagedObjectError:
    return DamagedObjectError(f"{name} is damaged, or was changed in the store")


def _nonce(number: int, *, last: bool) -> bytes:
    return number.to_bytes(_NONCE - 1, "big") + bytes([last])


def _key_id(key: str) -> bytes:
    """Return bytes that tell storage keys apart, and from which nothing of a key can be found out."""
    return tokens.derive(key.encode(), "object-key-id")[:_ID]


class DecryptedFile(SeekableFile):
    """The content of an encrypted object. ``stored``: the object, which is closed with this file. Reading raises
    :class:`DamagedObjectError`."""

    def __init__(self, stored: BinaryIO, key: bytes, name: str) -> None:
        self._stored, self._name, self._cipher = stored, name, AESGCM(key)
        self._size = content_size(stored.seek(0, io.SEEK_END), name)
        self._last = max(self._size - 1, 0) // CHUNK
        self._position, self._number, self._chunk = 0, -1, b""

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(base + offset, 0)
        return self._position

    def readinto(self, buffer: Any) -> int:
        number, start = divmod(self._position, CHUNK)
        if number > self._last:
            return 0
        if number != self._number:
            self._chunk, self._number = self._read(number), number
        piece = self._chunk[start : start + len(buffer)]
        buffer[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)

    def readall(self) -> bytes:
        return b"".join(iter(lambda: self.read(CHUNK) or b"", b""))

    def close(self) -> None:
        self._stored.close()
        super().close()

    def _read(self, number: int) -> bytes:
        self._stored.seek(HEADER + number * STORED_CHUNK)
        nonce = _nonce(number, last=number == self._last)
        try:
            return self._cipher.decrypt(nonce, self._stored.read(STORED_CHUNK), None)
        except (InvalidTag, ValueError) as error:
            raise damaged(self._name) from error


_BLOCK = 1 << 20


class EncryptedStore:
    """Keep objects in the store ``inner``. Downloads have addresses of the service: a bucket cannot decrypt objects."""

    presign = staticmethod(presigned_url)

    def __init__(self, inner: Store, keys: StorageKeys) -> None:
        self._inner, self._keys = inner, keys
        self.delete, self.sweep = inner.delete, inner.sweep
        self.free_bytes, self.listing = inner.free_bytes, inner.listing

    def put(self, key: str, content: bytes | BinaryIO) -> None:
        if not self._keys.encrypt:
            self._inner.put(key, content)
            return
        plain = io.BytesIO(content) if isinstance(content, bytes) else content
        with self._inner.stage() as staged:
            staged.file.writelines(self._keys.encrypted(checked_key(key), plain.read))
            staged.keep(key)

    @contextmanager
    def stage(self) -> Iterator[StagedObject]:
        """Yield a staged file that is not encrypted yet: it is read before it is known whether it will be kept."""
        with self._inner.stage() as plain:
            yield StagedObject(plain.file, partial(self._keep, plain.file)) if self._keys.encrypt else plain

    def get(self, key: str) -> bytes:
        content = self._inner.get(key)
        if not is_encrypted(content):
            return content
        return self._decrypted(io.BytesIO(content), content[:HEADER], key).read()

    def open(self, key: str) -> BinaryIO:
        file = self._inner.open(key)
        try:
            header = file.read(HEADER)
            if is_encrypted(header):
                return self._decrypted(file, header, key)
            file.seek(0)
        except BaseException:
            file.close()
            raise
        return file

    def is_current(self, key: str) -> bool:
        """Return whether the object is encrypted with the current storage key. Raise ``FileNotFoundError``."""
        with self._inner.open(key) as file:
            return self._keys.is_current(file.read(HEADER))

    def encrypt_anew(self, key: str) -> None:
        """Encrypt an object that is not encrypted, or is encrypted with another storage key; then only its header
        changes. Replace the object atomically. Raise ``FileNotFoundError`` and what :meth:`open` raises."""
        with self._inner.open(key) as file:
            header = file.read(HEADER)
            if not is_encrypted(header):
                file.seek(0)
                self.put(key, file)
                return
            with self._inner.stage() as staged:
                staged.file.write(self._keys.header(key, self._keys.key_in(header, key)))
                copyfileobj(file, staged.file, _BLOCK)
                staged.keep(key)

    def _keep(self, plain: BinaryIO, key: str) -> None:
        plain.seek(0)
        self.put(key, plain)

    def _decrypted(self, file: BinaryIO, header: bytes, key: str) -> BinaryIO:
        return cast(BinaryIO, io.BufferedReader(DecryptedFile(file, self._keys.key_in(header, key), key), CHUNK))
