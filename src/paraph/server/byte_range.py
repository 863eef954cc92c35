"""The ``Range`` header (RFC 9110 §14) with a single range, and that part of a file."""

import re
from dataclasses import dataclass
from typing import BinaryIO

_ONE_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


@dataclass(frozen=True)
class ByteRange:
    start: int
    length: int  # 0 when the range lies outside the file


def parse_range(header: str, size: int) -> ByteRange | None:
    """The range of a file of ``size`` bytes. None for no range or a form that is not supported: the whole file is then
    sent."""
    match = _ONE_RANGE.fullmatch(header.strip())
    if not match or header.strip() == "bytes=-":
        return None
    first, last = match.groups()
    if not first:
        length = min(int(last), size)
        return ByteRange(size - length, length)
    start = int(first)
    end = min(int(last), size - 1) if last else size - 1
    if last and int(last) < start:
        return None
    return ByteRange(start, max(end - start + 1, 0))


class FileSlice:
    """``length`` bytes of a file from ``start``. Closing it closes the file."""

    def __init__(self, file: BinaryIO, start: int, length: int) -> None:
        self.start, self.length = start, length
        self._file, self._left = file, length
        file.seek(start)

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(block)
        return block

    def close(self) -> None:
        self._file.close()
