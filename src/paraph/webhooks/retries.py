"""The times at which a failed delivery is tried again (specification 6.1)."""

from datetime import datetime, timedelta

DELAYS = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=25),
    timedelta(hours=2),
    timedelta(hours=10),
)


def next_attempt(failures: int, failed_at: datetime) -> datetime | None:
    """Returns the time of the next attempt after the ``failures``-th failure (from 1), None after the last."""
    return failed_at + DELAYS[failures - 1] if failures <= len(DELAYS) else None
