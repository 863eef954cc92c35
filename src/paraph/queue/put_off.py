"""Putting a job off, which is no failure: there is something to wait for, such as room below a ceiling of messages."""

from datetime import datetime


class JobPutOffError(Exception):
    """Raised by a verb that is to run again at ``next_at`` (aware), for as long as its work is due.

    ``reason`` is a phrase for the log, without personal data; ``retry_after`` the seconds until ``next_at``.
    """

    reason: str
    next_at: datetime
    retry_after: int
