"""The lock of a data folder: one service, or one command without a service, at a time."""

import fcntl
import os
import time
from pathlib import Path

from paraph.kernel.errors import DomainError

_START_SECONDS = 60
_COMMAND_SECONDS = 15


class DataFolderLock:
    """An advisory lock that ends with the process that holds it, killed or not. The file says who that is:
    its number, ``serve`` or ``command``, and ``ready`` once the database has its tables."""

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
        """Whether the lock is ours now."""
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        self._write(f"{os.getpid()} {purpose} starting\n")
        return True

    def take_for_service(self) -> None:
        """Raises ``DomainError("configuration", …)`` when a service runs here; a command is waited for."""
        deadline = time.monotonic() + _COMMAND_SECONDS
        while not self.take("serve"):
            pid, purpose, _ = self._holder()
            if purpose == "serve" or time.monotonic() > deadline:
                raise DomainError(
                    "configuration", f"Paraph already runs on {self.path.parent.absolute()} (process {pid})."
                )
            time.sleep(0.1)

    def mark_ready(self) -> None:
        self._write(self.path.read_text().replace("starting", "ready"))

    def wait_until_ready(self) -> bool:
        """False when the holder let go instead: the lock may be taken then."""
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
