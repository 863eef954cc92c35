"""The ledgers of all processes: one file each in the folder ``metrics`` of the data folder.

A process that ends leaves its file, so that no count is lost; a start of the whole service empties the folder.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from paraph.kernel import tokens
from paraph.metrics.ledger import Ledger, read


def folder() -> Path:
    path: Path = settings.DATA_DIR / "metrics"
    return path


def ledger() -> Ledger:
    """Return the ledger of this process, made at the first call."""
    if not _ledgers:
        _ledgers.append(Ledger(folder() / f"{os.getpid()}-{tokens.random_hex(8)}.metrics"))
    return _ledgers[0]


def records() -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yield each key with its numbers, once for each process that counted it."""
    for file in sorted(folder().glob("*.metrics")):
        try:
            yield from read(file)
        except FileNotFoundError:
            continue  # a start of the service has just removed it


def forget() -> None:
    """Remove all ledgers. To be called only while no other process of the service runs."""
    for file in folder().glob("*.metrics"):
        file.unlink(missing_ok=True)


_ledgers: list[Ledger] = []
os.register_at_fork(after_in_child=_ledgers.clear)
