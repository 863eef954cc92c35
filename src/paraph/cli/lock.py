"""The lock of a data folder. Either one service holds it, or one command that runs without a service."""

import fcntl
import os
import time
from pathlib import Path

from paraph.kernel.errors import DomainError

_START_SECONDS = 60
_COMMAND_SECONDS = 15


class DataFolderLock:
    """An advisory lock, which the kernel releases when its holder ends, even by a signal.

    The file names the holder: its process id, ``serve`` or ``command``, then ``starting`` or, once the database has its
    tables, ``ready``.
    """

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / "service.lock"
        try:
            data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise DomainError(
                "configuration", f"The data folder {data_dir} cannot be written: {error.strerror}."
            ) from error

    def take(self, purpose: str) -> bool:
        """Take the lock for ``serve`` or ``command`` without waiting. Return whether this process holds it now."""
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        self._write(f"{os.getpid()} {purpose} starting\n")
        return True

    def take_for_service(self) -> None:
        """Take the lock, waiting 15 s for a command to end.

        Raise ``DomainError("configuration", …)`` when a service runs on this data folder.
        """
        deadline = time.monotonic() + _COMMAND_SECONDS
        while not self.take("serve"):
            pid, purpose, _ = self._holder()
            if purpose == "serve" or time.monotonic() > deadline:
                raise DomainError(
                    "configuration", f"Paraph already runs on {self.path.parent.absolute()} (process {pid})."
                )
            time.sleep(0.1)

    def mark_ready(self) -> None:
        """Tell commands that the database can be used."""
        self._write(self.path.read_text().replace("starting", "ready"))

    def wait_until_ready(self) -> bool:
        """Wait for the holder to mark the lock ready. Return False when it released the lock instead, which may then
        be taken. Raise ``DomainError("configuration", …)`` after 60 s."""
        deadline = time.monotonic() + _START_SECONDS
        while self._holder()[2] != "ready":
            if self._is_free():
                return False
            if time.monotonic() > deadline:
                raise DomainError("configuration", f"The service on {self.path.parent} is still starting.")
            time.sleep(0.1)
        return True

    def release(self) -> None:
        os.truncate(self._handle, 0)
        os.close(self._handle)

    def _is_free(self) -> bool:
        try:
            fcntl.flock(self._handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        fcntl.flock(self._handle, fcntl.LOCK_UN)
        return True

    def _write(self, text: str) -> None:
        os.truncate(self._handle, 0)
        os.pwrite(self._handle, text.encode(), 0)

    def _holder(self) -> tuple[str, str, str]:
        words = self.path.read_text().split()
        return (words[0], words[1], words[2]) if len(words) == 3 else ("?", "?", "?")
