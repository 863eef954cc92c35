"""The one clock. Everything that asks for the time asks here, so that a test can move it."""

from datetime import UTC, datetime


def now() -> datetime:
    """The current time in UTC, cut to the millisecond: what the journal states and hashes."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def iso(moment: datetime) -> str:
    """``YYYY-MM-DDTHH:MM:SSZ``, the form of every timestamp in the API (specification 1)."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def iso_milliseconds(moment: datetime) -> str:
    """``YYYY-MM-DDTHH:MM:SS.mmmZ``, the form of the journal and the proof (specification 2.2)."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
