"""What a check finds."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """``warning``: the service does its work, but an operator should know."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True)
class Outcome:
    """``name`` is stable, for programs; ``sentence`` is for people and may name paths and hosts, never a secret.
    ``transient``: what failed comes back by itself, and what is asked of the service meanwhile can wait for it."""

    name: str
    status: Status
    sentence: str
    transient: bool = False


def ok(name: str, sentence: str) -> Outcome:
    return Outcome(name, Status.OK, sentence)


def warning(name: str, sentence: str) -> Outcome:
    return Outcome(name, Status.WARNING, sentence)


def failed(name: str, sentence: str, *, transient: bool = False) -> Outcome:
    return Outcome(name, Status.FAILED, sentence, transient)
