"""A store whose objects are encrypted with ``PARAPH_STORAGE_KEY``. Objects from before stay readable as they are."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from shutil import copyfileobj
from typing import BinaryIO, cast

from paraph.storage.envelope import CHUNK, HEADER, DecryptedFile, StorageKeys, is_encrypted
from paraph.storage.objects import StagedObject, Store, checked_key
from paraph.storage.presign import presigned_url

_BLOCK = 1 << 20


class EncryptedStore:
    """Keep its objects in ``inner``. Addresses of downloads are the service's own, since the bucket cannot decrypt."""

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
        """The staged file is not encrypted yet: it is read where it lies before it is known whether it is kept."""
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

    def _keep(self, plain: BinaryIO, key: str) -> None:
        plain.seek(0)
        self.put(key, plain)

    def _decrypted(self, file: BinaryIO, header: bytes, key: str) -> BinaryIO:
        return cast(BinaryIO, io.BufferedReader(DecryptedFile(file, self._keys.key_in(header, key), key), CHUNK))
