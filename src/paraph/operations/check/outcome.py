"""The outcome of a check, and the comparison of two clocks."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

_NOTICEABLE = timedelta(seconds=3)  # timestamps are whole seconds, and an answer takes a while
_WRONG = timedelta(seconds=60)


class Status(StrEnum):
    """``warning``: the service works, but an operator should know of something."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a check. ``name`` is stable, for programs; "" stands for the name of the check. ``sentence`` is
    for people and may name paths and hosts, never a secret. ``late``: the check did not end in time."""

    name: str
    status: Status
    sentence: str
    late: bool = False


def ok(sentence: str, name: str = "") -> Outcome:
    return Outcome(name, Status.OK, sentence)


def warning(sentence: str, name: str = "") -> Outcome:
    return Outcome(name, Status.WARNING, sentence)


def failed(sentence: str, name: str = "") -> Outcome:
    return Outcome(name, Status.FAILED, sentence)


def compare_clocks(name: str, whose: str, theirs: datetime, ours: datetime) -> Outcome:
    """Compare two readings taken at about the same moment. ``whose`` names the other clock in the sentence."""
    apart = abs(theirs - ours)
    if apart < _NOTICEABLE:
        return ok(f"This machine's clock and {whose} agree within {max(apart.total_seconds(), 0.1):.1f} s.", name)
    ahead = "behind" if theirs > ours else "ahead of"
    sentence = f"This machine's clock is {apart.total_seconds():.0f} s {ahead} {whose}: set it by NTP."
    return (failed if apart > _WRONG else warning)(sentence, name)
