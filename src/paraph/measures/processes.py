"""Figures that every process keeps for itself, in a file of the folder ``metrics`` of the data folder.

A process that ends leaves its file, so that nothing counted is lost; a start of the whole service empties the
folder. The files carry the host's name too: containers that share a data folder have the same process numbers.
"""

import os
import socket
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from prometheus_client import CollectorRegistry, values
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector

_FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"  # the library takes the folder from there and nowhere else


def folder() -> Path:
    path: Path = settings.DATA_DIR / "metrics"
    return path


def keep() -> None:
    """Has the figures kept in the folder; to be called before the first one is made."""
    folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    os.environ[_FOLDER_VARIABLE] = str(folder())
    values.ValueClass = values.MultiProcessValue(_name)  # type: ignore[no-untyped-call]


def summed() -> Iterable[Metric]:
    """The figures of all processes, past ones too."""
    collector = MultiProcessCollector(CollectorRegistry(), str(folder()))  # type: ignore[no-untyped-call]
    found: Iterable[Metric] = collector.collect()  # type: ignore[no-untyped-call]
    return found


def forget() -> None:
    """Begins at zero. Only while no other process of the service runs."""
    for file in folder().glob("*.db"):
        file.unlink(missing_ok=True)


def _name() -> str:
    """Asked for whenever something is counted."""
    return _names[0]


def _be_named() -> None:
    _names[:] = [f"{socket.gethostname()}-{os.getpid()}"]


_names: list[str] = []
_be_named()
os.register_at_fork(after_in_child=_be_named)
