"""The installation that the faults befall."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lab.chaos.faults import Fault
from tests.cli.service import Service


@dataclass(frozen=True)
class Installation:
    """``service`` has the address and runs commands. ``kinds``: the possible faults. ``log``: returns the lines that
    the processes have written. ``ended``: returns a text for each process that ended by itself."""

    service: Service
    database_url: str
    kinds: Mapping[str, Fault]
    log: Callable[[], list[str]]
    ended: Callable[[], list[str]]
