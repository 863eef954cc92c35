"""The free space of the disk that uploads are written to."""

from collections.abc import Iterator

from django.conf import settings

from paraph.operations.check.outcome import Outcome, failed, ok, warning
from paraph.storage import store

_MIB = 1024 * 1024


def free_space() -> Iterator[Outcome]:
    """``space``: a warning below twice the floor at which uploads are refused."""
    free, floor = store.free_bytes() // _MIB, settings.PARAPH.free_space_mb
    if not floor:
        yield ok("space", f"{free} MiB of the disk are free.")
    elif free < floor:
        yield failed("space", f"{free} MiB of the disk are free; uploads are refused below {floor} MiB.")
    elif free < 2 * floor:
        yield warning("space", f"{free} MiB of the disk are free; uploads will be refused below {floor} MiB.")
    else:
        yield ok("space", f"{free} MiB of the disk are free; uploads are refused below {floor} MiB.")
