"""ZIP files of one form: members one after the other, stored as they are, and their directory, with nothing before,
between or behind. The same members and the same moment make the same bytes, and a reader takes no other bytes.
"""

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from struct import Struct
from typing import BinaryIO

LARGEST = 2 << 30
MOST_MEMBERS = 10_000  # a hundred documents, and decades of revocation data beside them
_BLOCK = 1 << 20
_LOCAL, _ENTRY, _END = Struct("<4s5H3L2H"), Struct("<4s6H3L5H2L"), Struct("<4s4H2LH")
_VERSION, _UTF8 = 20, 1 << 11
_ON_UNIX, _REGULAR_FILE = 3 << 8 | _VERSION, 0o100644 << 16


class ZipRefused(ValueError):
    """The file has another form; the message is one sentence."""


@dataclass(frozen=True)
class Member:
    """A file of the ZIP. ``start``: where its content begins; ``moment``: time and date as ZIP writes them."""

    name: str
    start: int
    moment: tuple[int, int]
    size: int = 0
    crc: int = 0
    sha256: bytes = b""

    @property
    def _stated(self) -> tuple[int, ...]:
        flags = 0 if self.name.isascii() else _UTF8
        return (_VERSION, flags, 0, *self.moment, self.crc, self.size, self.size, len(self.name.encode()))

    @property
    def header(self) -> bytes:
        return _LOCAL.pack(b"PK\3\4", *self._stated, 0) + self.name.encode()

    @property
    def entry(self) -> bytes:
        offset = self.start - _LOCAL.size - len(self.name.encode())
        return _ENTRY.pack(b"PK\1\2", _ON_UNIX, *self._stated, 0, 0, 0, 0, _REGULAR_FILE, offset) + self.name.encode()


class ZipWriter:
    """Write into an empty file that can be read and sought. ``moment``: the time of every member."""

    def __init__(self, file: BinaryIO, moment: datetime) -> None:
        self.members: list[Member] = []
        self._file = file
        at = moment.astimezone(UTC)
        self._moment = at.hour << 11 | at.minute << 5 | at.second // 2, at.year - 1980 << 9 | at.month << 5 | at.day

    def add(self, name: str, content: BinaryIO) -> Member:
        """Add a file, read in blocks. Raise ``OverflowError`` where all of them are more than :data:`LARGEST`."""
        begin = self._file.tell()
        member = Member(name, begin + _LOCAL.size + len(name.encode()), self._moment)
        self._file.write(member.header)
        while block := content.read(_BLOCK):
            if self._file.tell() + len(block) > LARGEST:
                raise OverflowError
            self._file.write(block)
        end = self._file.tell()
        member = _measured(self._file, replace(member, size=end - member.start))
        self._file.seek(begin)
        self._file.write(member.header)
        self._file.seek(end)
        self.members.append(member)
        return member

    def finish(self) -> None:
        self._file.write(_directory(self.members))


def read_members(file: BinaryIO) -> list[Member]:
    """Return the members of a file of this form, whose contents agree with their checksums. Raise
    :class:`ZipRefused`."""
    members, position, whole = list[Member](), 0, file.seek(0, 2)
    if whole > LARGEST:
        raise ZipRefused(f"It is larger than {LARGEST >> 30} GB.")
    while (member := _read_header(file, position)) is not None:
        if len(members) == MOST_MEMBERS:
            raise ZipRefused(f"It has more than {MOST_MEMBERS} files.")
        position = member.start + member.size
        found = _measured(file, member) if position <= whole else None
        if found is None or found.crc != member.crc:
            raise ZipRefused(f'"{member.name[:100]}" in it is cut off or was altered.')
        members.append(found)
    file.seek(position)
    expected = _directory(members)
    if file.read(len(expected) + 1) != expected:
        raise ZipRefused("Its directory says something else than its files, or more follows it.")
    return members


def _read_header(file: BinaryIO, position: int) -> Member | None:
    file.seek(position)
    encoded = file.read(_LOCAL.size)
    if encoded[:4] != b"PK\3\4" or len(encoded) < _LOCAL.size:
        return None
    _, _, _, _, time, date, crc, size, _, length, _ = _LOCAL.unpack(encoded)
    raw = file.read(length)
    try:
        member = Member(raw.decode(), position + _LOCAL.size + length, (time, date), size, crc)
    except UnicodeDecodeError:
        member = None
    if member is None or member.header != encoded + raw:
        raise ZipRefused("A file in it is packed, encrypted, linked or described otherwise than a bundle has it.")
    return member


def _measured(file: BinaryIO, member: Member) -> Member:
    """Return the member with checksum and digest of what the file has there."""
    file.seek(member.start)
    hash_, crc, left = hashlib.sha256(), 0, member.size
    while left and (block := file.read(min(_BLOCK, left))):
        hash_.update(block)
        crc = zlib.crc32(block, crc)
        left -= len(block)
    return replace(member, crc=crc, sha256=hash_.digest())


def _directory(members: Sequence[Member]) -> bytes:
    entries = b"".join(member.entry for member in members)
    start = members[-1].start + members[-1].size if members else 0
    return entries + _END.pack(b"PK\5\6", 0, 0, len(members), len(members), len(entries), start, 0)
