"""The outcome of a check."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """``warning``: the service works, but an operator should know of something."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True)
class Outcome:
    """``name`` is stable, for programs; ``sentence`` is for people and may name paths and hosts, never a secret.
    ``transient``: a failed part that recovers by itself, and whose work can wait until then. ``late``: the check did
    not end in time, so nothing is known."""

    name: str
    status: Status
    sentence: str
    transient: bool = False
    late: bool = False


def ok(name: str, sentence: str) -> Outcome:
    return Outcome(name, Status.OK, sentence)


def warning(name: str, sentence: str) -> Outcome:
    return Outcome(name, Status.WARNING, sentence)


def failed(name: str, sentence: str, *, transient: bool = False) -> Outcome:
    return Outcome(name, Status.FAILED, sentence, transient)
