"""The file of a backup: a tar whose first member says what the file is, and whose last member proves it complete.
``manifest.json``, ``database.dump`` (pg_dump's custom form) and ``database.list`` (which of its contents are Paraph's);
in a backup also ``secret.key``, ``secret.previous`` while the secret is being rotated, ``keys/…`` and ``objects/…``;
``end.json`` with the number of members before it and a SHA-256 over their names, sizes and contents."""

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, Self

from paraph.kernel.errors import DomainError

MANIFEST, DATABASE, CONTENTS, KEYS, OBJECTS = "manifest.json", "database.dump", "database.list", "keys/", "objects/"
SECRET, EARLIER_SECRETS = "secret.key", "secret.previous"
_END = "end.json"
_BLOCK = 1 << 20


class ArchiveWriter:
    """Write members one after the other. If the block raises, the file lacks its end and is refused when it is read."""

    def __init__(self, target: BinaryIO) -> None:
        self._tar = tarfile.open(fileobj=target, mode="w|", format=tarfile.PAX_FORMAT)  # noqa: SIM115  __exit__ closes
        self._seal = _Seal()

    def add(self, name: str, content: BinaryIO) -> None:
        """Add the file from its beginning to its end."""
        member = tarfile.TarInfo(name)
        member.mode = 0o600
        member.size = content.seek(0, io.SEEK_END)
        content.seek(0)
        self._seal.begin(name, member.size)
        self._tar.addfile(member, _Watched(content, self._seal))

    def add_bytes(self, name: str, content: bytes) -> None:
        self.add(name, io.BytesIO(content))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        with self._tar:
            if error is None:
                self.add_bytes(_END, json.dumps(self._seal.words()).encode())


class Archive:
    """A file whose completeness :func:`checked_archive` has checked."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def manifest(self) -> dict[str, Any]:
        return dict(json.loads(self.read(MANIFEST)))

    def read(self, name: str) -> bytes:
        return next((content.read() for found, content in self.members() if found == name), b"")

    def members(self) -> Iterator[tuple[str, IO[bytes]]]:
        """Yield each member's name and its content, which can be read until the next one is yielded."""
        with tarfile.open(self._path, "r:") as tar:
            for member in tar:
                content = tar.extractfile(member)
                if content is None:
                    raise _bad(self._path, "it has a member that is no file")
                yield member.name, content


@contextmanager
def checked_archive(path: Path, kind: str) -> Iterator[Archive]:
    """Read the whole file and yield its archive. Raise ``DomainError("validation_error", …)`` unless it is of this kind
    (``backup`` or ``export``), complete and unchanged."""
    archive = Archive(path)
    try:
        _check(archive, path)
        found = archive.manifest().get("kind")
    except (OSError, tarfile.TarError, EOFError, ValueError) as error:
        raise _bad(path, str(error)) from error
    if found != kind:
        raise _bad(path, f"it is made by paraph {found}")
    yield archive


def _check(archive: Archive, path: Path) -> None:
    seal, end = _Seal(), None
    for name, content in archive.members():
        if end is not None:
            raise _bad(path, "something stands after its end")
        if name == _END:
            end = json.loads(content.read())
            continue
        seal.begin(name, content.seek(0, io.SEEK_END))
        content.seek(0)
        while block := content.read(_BLOCK):
            seal.update(block)
    if end != seal.words():
        raise _bad(path, "it is cut or was changed")


class _Seal:
    """The number of members and the digest over them."""

    def __init__(self) -> None:
        self._members = 0
        self._digest = hashlib.sha256()

    def begin(self, name: str, size: int) -> None:
        self._members += 1
        self._digest.update(json.dumps([name, size]).encode())

    def update(self, block: bytes) -> None:
        self._digest.update(block)

    def words(self) -> dict[str, Any]:
        return {"members": self._members, "sha256": self._digest.hexdigest()}


class _Watched(io.RawIOBase):
    """A file that adds each block that is read from it to the seal."""

    def __init__(self, content: BinaryIO, seal: _Seal) -> None:
        self._content, self._seal = content, seal

    def read(self, size: int = -1) -> bytes:
        block = self._content.read(size)
        self._seal.update(block)
        return block


def _bad(path: Path, why: str) -> DomainError:
    return DomainError("validation_error", f"{path} cannot be used: {why}.")
