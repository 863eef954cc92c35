"""A small disk that a test can fill."""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PAUSE = 0.02
_OF_ROOT = "a small disk can only be made by root"


class SmallDisk:
    """``place``: the folder where the disk is mounted."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._filler = place / "filler"

    def fill(self, leave: int = 0) -> None:
        """Fill the disk until only ``leave`` bytes are free."""
        with self._filler.open("ab") as file, suppress(OSError):  # another process took the last bytes
            while (free := self._free() - leave) > 0:
                os.posix_fallocate(file.fileno(), file.tell(), free)
                file.seek(0, os.SEEK_END)

    def keep_full(self, seconds: float) -> None:
        """Keep the disk full although others delete files meanwhile, then make room again."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.fill()
            time.sleep(_PAUSE)
        self.clear()

    def clear(self) -> None:
        self._filler.unlink()

    def _free(self) -> int:
        status = os.statvfs(self.place)
        return status.f_bavail * status.f_frsize


@contextmanager
def small_disk(mebibytes: int) -> Iterator[SmallDisk]:
    """Mount a disk in memory that every account can reach. Raise ``PermissionError`` where this account may not."""
    place = Path(tempfile.mkdtemp(prefix="paraph-disk-"))
    place.chmod(0o755)
    command = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m,mode=755", "tmpfs", str(place)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        place.rmdir()
        raise PermissionError(f"{_OF_ROOT}: {mounted.stderr.strip()}")
    try:
        yield SmallDisk(place)
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)
        place.rmdir()
