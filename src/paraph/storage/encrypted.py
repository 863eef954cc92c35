"""A store whose objects are encrypted with ``PARAPH_STORAGE_KEY``. Objects from before stay readable as they are."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import copyfileobj
from typing import BinaryIO, cast

from paraph.storage.envelope import (
    CHUNK,
    HEADER,
    DecryptedFile,
    StorageKeys,
    encrypted_chunks,
    is_encrypted,
    new_key,
)
from paraph.storage.objects import StagedObject, Store, checked_key
from paraph.storage.presign import presigned_url

_BLOCK = 1 << 20


class EncryptedStore:
    """Keep its objects in ``inner``. Addresses of downloads are the service's own, since the bucket cannot decrypt."""

    presign = staticmethod(presigned_url)

    def __init__(self, inner: Store, keys: StorageKeys) -> None:
        self._inner = inner
        self.delete, self.sweep = inner.delete, inner.sweep
        self.free_bytes, self.listing, self.sizes = inner.free_bytes, inner.listing, inner.sizes
        self._keys = keys

    def put(self, key: str, content: bytes | BinaryIO) -> None:
        if not self._keys.encrypt:
            self._inner.put(key, content)
        elif isinstance(content, bytes):
            self._inner.put(key, b"".join(self._encrypted(key, io.BytesIO(content))))
        else:
            with self._inner.stage() as staged:
                staged.file.writelines(self._encrypted(key, content))
                staged.keep(key)

    @contextmanager
    def stage(self) -> Iterator[StagedObject]:
        """The staged file is not encrypted yet: it is read where it lies before it is known whether it is kept."""
        with self._inner.stage() as plain:
            yield StagedObject(plain.file, lambda key: self._keep(plain, key))

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
            header = file.read(HEADER)
        return is_encrypted(header) and self._keys.is_current(header)

    def encrypt_anew(self, key: str) -> None:
        """Encrypt an object that is not, or that another storage key opens; of the latter the header alone changes.
        Replaces it as a whole. Raise ``FileNotFoundError`` and what :meth:`open` raises."""
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

    def _keep(self, plain: StagedObject, key: str) -> None:
        if not self._keys.encrypt:
            plain.keep(key)
            return
        plain.file.seek(0)
        self.put(key, plain.file)

    def _encrypted(self, key: str, content: BinaryIO) -> Iterator[bytes]:
        own = new_key()
        yield self._keys.header(checked_key(key), own)
        yield from encrypted_chunks(own, content.read)

    def _decrypted(self, file: BinaryIO, header: bytes, key: str) -> BinaryIO:
        return cast(BinaryIO, io.BufferedReader(DecryptedFile(file, self._keys.key_in(header, key), key), CHUNK))
