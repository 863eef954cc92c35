"""ZIP files of one form: what the standard library writes of members that are stored as they are. A reader writes the
file anew and takes no other bytes, so that there is one reading of it.
"""

import io
import struct
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, BinaryIO, NamedTuple
from zipfile import ZIP64_LIMIT, BadZipFile, LargeZipFile, ZipFile, ZipInfo

MOST_MEMBERS = 10_000  # a hundred documents, and decades of revocation data beside them
BLOCK = 1 << 20
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # that ZIP knows: nobody vouches for the time of a member, so it says none
_UNIX, _REGULAR_FILE = 3, 0o100644 << 16


class ZipRefused(Exception):
    """The file has another form; the message is one sentence."""


class Member(NamedTuple):
    """A file of the ZIP; its content begins at ``start``."""

    name: str
    start: int
    size: int
    sha256: bytes


class ZipWriter(ZipFile):
    """Write into a file that is empty, or is compared. Raises ``LargeZipFile`` soon after 2 GB."""

    def __init__(self, file: Any) -> None:
        super().__init__(file, "w", allowZip64=False)
        self.members: list[Member] = []
        self._into = file

    def add(self, name: str, content: Iterable[bytes]) -> Member:
        info, hash_ = ZipInfo(name, _EARLIEST), sha256()
        info.create_system, info.external_attr = _UNIX, _REGULAR_FILE
        with self.open(info, "w") as opened:
            start = self._into.tell()
            for block in content:
                hash_.update(block)
                opened.write(block)
        self.members.append(Member(name, start, info.file_size, hash_.digest()))
        return self.members[-1]


class _Compared(io.RawIOBase):
    """Compares what is written with what a file has in the same place. The last counts that is written there: a header
    comes again once the checksum is known."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file, self._same = file, dict[int, bool]()
        self._file.seek(0)

    def is_same(self) -> bool:
        """Return whether the file has what was written, and ends there."""
        return all(self._same.values()) and not self._file.read(1)

    def tell(self) -> int:
        return self._file.tell()

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def write(self, content: Any) -> int:
        place = self.tell()
        self._same[place] = self._file.read(len(content)) == content
        return len(content)

    def ahead(self, size: int) -> Iterator[bytes]:
        """Yield the next bytes of the file in blocks, each of which is to be written before the next."""
        while block := self._file.read(min(BLOCK, size)):
            self.seek(-len(block), io.SEEK_CUR)
            yield block
            size -= len(block)


def read_members(file: BinaryIO) -> list[Member]:
    """Return the members of a file of this form. Raise :class:`ZipRefused`. Nothing is unpacked."""
    if file.seek(0, io.SEEK_END) > ZIP64_LIMIT:
        raise ZipRefused("It is larger than 2 GB.")
    try:
        with ZipFile(file) as archive:
            named = {info.filename.casefold(): info for info in archive.infolist()}
            count = len(archive.infolist())
        if count > MOST_MEMBERS:
            raise ZipRefused(f"It has more than {MOST_MEMBERS} files.")
        if len(named) < count:
            raise ZipRefused("Two files in it have one name.")
        compared = _Compared(file)
        with ZipWriter(compared) as writer:
            for info in named.values():
                writer.add(info.filename, compared.ahead(info.file_size))
    except (BadZipFile, LargeZipFile, RuntimeError, OSError, ValueError, struct.error) as error:
        raise ZipRefused("It is no ZIP file, or was cut off.") from error
    if not compared.is_same():
        raise ZipRefused("It was altered, or is packed, encrypted, linked or described otherwise than a bundle is.")
    return writer.members
