"""Objects in a folder. What ``put`` has returned for survives a power cut."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from shutil import copyfileobj, disk_usage
from typing import BinaryIO

from paraph.kernel import tokens
from paraph.storage.object_keys import checked_key
from paraph.storage.presign import presigned_url
from paraph.storage.staged_object import StagedObject

_DRAFTS = ".drafts"  # no key starts with a dot
_BLOCK = 1 << 20


class LocalStore:
    """``root`` is made with mode 0700 at the first write; objects have mode 0600."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, key: str, content: bytes | BinaryIO) -> None:
        checked_key(key)
        with self.stage() as draft:
            if isinstance(content, bytes):
                draft.file.write(content)
            else:
                copyfileobj(content, draft.file, _BLOCK)
            draft.keep(key)

    @contextmanager
    def stage(self) -> Iterator[StagedObject]:
        """Where the objects are, so that keeping it moves no byte."""
        place = self.root / _DRAFTS / tokens.random_hex(16)
        self._make_folder(place.parent)
        with os.fdopen(os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:
            try:
                yield StagedObject(file, lambda key: self._keep(file, place, key))
            finally:
                place.unlink(missing_ok=True)

    def get(self, key: str) -> bytes:
        return self._path(key).read_bytes()

    def open(self, key: str) -> BinaryIO:
        return self._path(key).open("rb")

    def delete(self, key: str) -> None:
        self._path(key).unlink(missing_ok=True)

    def presign(self, key: str, filename: str, seconds: int) -> str:
        return presigned_url(checked_key(key), filename, seconds)

    def free_bytes(self) -> int:
        place = self.root if self.root.exists() else self.root.parent
        return disk_usage(place).free

    def keys_written_before(self, prefix: str, before: datetime) -> Iterator[str]:
        for folder, _, names in os.walk(self.root / checked_key(prefix.rstrip("/"))):
            for name in names:
                path = Path(folder, name)
                try:
                    written = path.stat().st_mtime
                except FileNotFoundError:
                    continue  # deleted meanwhile
                if written < before.timestamp():
                    yield path.relative_to(self.root).as_posix()

    def sweep(self) -> None:
        """Removes what a crash left half written. Only while nothing else writes."""
        for draft in (self.root / _DRAFTS).glob("*"):
            draft.unlink(missing_ok=True)

    def _keep(self, file: BinaryIO, place: Path, key: str) -> None:
        path = self._path(key)
        self._make_folder(path.parent)
        file.flush()
        os.fsync(file.fileno())
        place.rename(path)
        _sync_folder(path.parent)

    def _path(self, key: str) -> Path:
        return self.root / checked_key(key)

    def _make_folder(self, folder: Path) -> None:
        if folder.is_dir():
            return
        if folder != self.root:
            self._make_folder(folder.parent)
            folder.mkdir(mode=0o700, exist_ok=True)
        else:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    """A new name is on disk only once its folder is."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
