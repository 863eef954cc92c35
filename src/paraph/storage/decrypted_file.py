"""The content of an encrypted object as a seekable file: a chunk is read and decrypted when it is asked for."""

import io
from typing import Any, BinaryIO

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from paraph.storage.envelope import CHUNK, HEADER, STORED_CHUNK, chunk_count, content_size, decrypted_chunk


class DecryptedFile(io.RawIOBase):
    """``stored``: the object, which is closed with this file. Reading raises
    :class:`~paraph.storage.envelope.DamagedObjectError`."""

    def __init__(self, stored: BinaryIO, key: bytes, name: str) -> None:
        self._stored, self._name, self._cipher = stored, name, AESGCM(key)
        length = stored.seek(0, io.SEEK_END)
        self._chunks, self._size = chunk_count(length, name), content_size(length, name)
        self._position, self._number, self._chunk = 0, -1, b""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(base + offset, 0)
        return self._position

    def readinto(self, buffer: Any) -> int:
        number, start = divmod(self._position, CHUNK)
        if number >= self._chunks:
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
        last = number == self._chunks - 1
        stored = self._stored.read(STORED_CHUNK)
        return decrypted_chunk(self._cipher, number, stored, self._name, last=last)
