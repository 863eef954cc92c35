"""Figures that every process keeps for itself, in a file of the folder ``metrics`` of the data folder.

A process that ends leaves its file, so that nothing counted is lost; a start of the whole service empties the
folder.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from paraph.kernel import tokens
from paraph.measures.ledger import Ledger, read

_ENDINGS = ("figures", "db")  # the second: of earlier versions


def folder() -> Path:
    path: Path = settings.DATA_DIR / "metrics"
    return path


def ledger() -> Ledger:
    """Of this process."""
    if not _ledgers:
        _ledgers.append(Ledger(folder() / f"{os.getpid()}-{tokens.random_hex(8)}.figures"))
    return _ledgers[0]


def records() -> Iterator[tuple[str, tuple[float, ...]]]:
    """What all processes have kept: each key with its numbers, once for each process."""
    for file in sorted(folder().glob("*.figures")):
        try:
            yield from read(file)
        except FileNotFoundError:
            continue  # the service starts anew


def forget() -> None:
    """Begins at zero. Only while no other process of the service runs."""
    for ending in _ENDINGS:
        for file in folder().glob(f"*.{ending}"):
            file.unlink(missing_ok=True)


_ledgers: list[Ledger] = []
os.register_at_fork(after_in_child=_ledgers.clear)
