"""Whether a backup was made lately."""

from collections.abc import Iterator
from datetime import timedelta

from paraph.evidence.timelines import newest_sound
from paraph.kernel import clock
from paraph.operations.check.outcome import Outcome, ok, warning

_OLD = timedelta(days=8)  # a weekly backup is no finding


def backup() -> Iterator[Outcome]:
    """``backup``: the age of the newest one by ``paraph backup``."""
    newest = newest_sound()
    if newest is None:
        yield ok("backup", "None without problems was made by paraph backup; copies made by other means are not seen.")
    elif clock.now() - newest > _OLD:
        yield warning("backup", f"The newest backup without problems is of {clock.iso(newest)}: run paraph backup.")
    else:
        yield ok("backup", f"The newest backup without problems is of {clock.iso(newest)}.")
