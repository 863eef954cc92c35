"""Putting a job off, which is no failure: there is something to wait for, such as room below a ceiling of messages."""

from datetime import datetime


class Reschedule(Exception):
    """Ask for another run at ``next_at`` (aware), in ``retry_after`` seconds. ``reason``: a phrase for the log,
    without personal data."""

    reason: str
    next_at: datetime
    retry_after: int
