"""The clock of the service. All code reads the time here, so that a test can set it."""

from datetime import UTC, datetime, timedelta

TOLERANCE = timedelta(minutes=10)


def now() -> datetime:
    """Return the current time in UTC, cut to milliseconds, which is how the journal states and hashes it."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def is_within(ends_at: datetime, length: timedelta, moment: datetime) -> bool:
    """Return whether a window of this length that ends at ``ends_at`` is still open at ``moment``. A window that would
    begin more than :data:`TOLERANCE` after ``moment`` was opened before the clock was set back; it counts as over,
    since it would otherwise stay open for as long as the clock was set back."""
    return moment < ends_at <= moment + length + TOLERANCE


def iso(moment: datetime) -> str:
    """``YYYY-MM-DDTHH:MM:SSZ``, the form of every timestamp in the API (rule 1)."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").removesuffix("+00:00") + "Z"


def iso_milliseconds(moment: datetime) -> str:
    """``YYYY-MM-DDTHH:MM:SS.mmmZ``, the form of the journal and the proof (rule 2.2)."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
