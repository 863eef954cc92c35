"""Objects in a folder. An object survives a power cut once ``put`` has returned."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from heapq import nsmallest
from io import BytesIO
from pathlib import Path
from shutil import copyfileobj, disk_usage
from typing import BinaryIO

from paraph.kernel import tokens
from paraph.storage.objects import StagedObject, checked_key, presigned_url

_STAGED = ".drafts"  # no key starts with a dot
_BLOCK = 1 << 20
_LISTED = 20_000


class LocalStore:
    """``root``: a folder, made with mode 0700 at the first write. Objects have mode 0600."""

    presign = staticmethod(presigned_url)

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, key: str, content: bytes | BinaryIO) -> None:
        with self.stage() as staged:
            copyfileobj(BytesIO(content) if isinstance(content, bytes) else content, staged.file, _BLOCK)
            staged.keep(key)

    @contextmanager
    def stage(self) -> Iterator[StagedObject]:
        """Yield a staged file in the same file system as the objects, so that keeping it is a rename."""
        path = self.root / _STAGED / tokens.random_hex(16)
        self._make_folder(path.parent)
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:
            try:
                yield StagedObject(file, lambda key: self._keep(file, path, key))
            finally:
                with suppress(OSError):  # the folder is unreachable; the next start sweeps it
                    path.unlink(missing_ok=True)

    def get(self, key: str) -> bytes:
        return self._path(key).read_bytes()

    def open(self, key: str) -> BinaryIO:
        return self._path(key).open("rb")

    def delete(self, *keys: str) -> None:
        for key in keys:
            self._path(key).unlink(missing_ok=True)

    def free_bytes(self) -> int:
        return disk_usage(self.root if self.root.exists() else self.root.parent).free

    def listing(self, prefix: str, after: str) -> Iterator[tuple[str, int, datetime]]:
        checked_key(prefix.rstrip("/"))
        for key in self._keys(prefix, after):
            with suppress(FileNotFoundError):  # deleted in the meantime
                status = (self.root / key).stat()
                yield key, status.st_size, datetime.fromtimestamp(status.st_mtime, UTC)

    def _keys(self, folder: str, after: str) -> Iterator[str]:
        """Yield keys in order. Reads a folder anew for each ``_LISTED`` names, which the system lists in no order."""
        found = [""] * _LISTED
        while len(found) == _LISTED:
            found = []
            with suppress(FileNotFoundError), os.scandir(self.root / folder) as entries:
                names = (f"{folder}{entry.name}{'/' * entry.is_dir()}" for entry in entries)
                found = nsmallest(_LISTED, (name for name in names if _is_beyond(name, after)))
            for name in found:
                yield from self._keys(name, after) if name.endswith("/") else (name,)
                after = name

    def sweep(self) -> None:
        """Remove the staged files that a crash left behind. To be called only while nothing else writes."""
        for staged in (self.root / _STAGED).glob("*"):
            staged.unlink(missing_ok=True)

    def _keep(self, file: BinaryIO, staged: Path, key: str) -> None:
        path = self._path(key)
        self._make_folder(path.parent)
        file.flush()
        os.fsync(file.fileno())
        staged.rename(path)
        _sync_folder(path.parent)

    def _path(self, key: str) -> Path:
        return self.root / checked_key(key)

    def _make_folder(self, folder: Path) -> None:
        if folder.is_dir():
            return
        if folder != self.root:
            self._make_folder(folder.parent)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sync_folder(folder.parent)


def _is_beyond(name: str, after: str) -> bool:
    """Return whether the key ``name``, or any key in the folder ``name``, may come after the key ``after``."""
    return name > after or (name.endswith("/") and after.startswith(name) and after != name)


def _sync_folder(folder: Path) -> None:
    """Make the names in the folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
