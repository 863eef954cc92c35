"""What is put among faults."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lab.chaos.faults import Fault
from tests.cli.service import Service


@dataclass(frozen=True)
class Installation:
    """``service`` has its address and runs commands. ``kinds``: the faults that befall it. ``log``: the lines that it
    has written. ``ended``: tells of each process that ended by itself."""

    service: Service
    database_url: str
    kinds: Mapping[str, Fault]
    log: Callable[[], list[str]]
    ended: Callable[[], list[str]]
