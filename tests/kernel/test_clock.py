"""Windows of time, by a clock that may be set back."""

from datetime import UTC, datetime, timedelta

import pytest

from paraph.kernel import clock

NOW = datetime(2030, 5, 16, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("ends_at", "running"),
    [
        (NOW, False),
        (NOW + timedelta(milliseconds=1), True),
        (NOW + HOUR, True),
        (NOW + HOUR + clock.TOLERANCE, True),  # began by another machine's clock, or before ours was corrected
        (NOW + HOUR + clock.TOLERANCE + timedelta(milliseconds=1), False),
        (NOW + timedelta(days=1), False),
    ],
)
def test_a_window_is_open_from_its_beginning_to_its_end(ends_at: datetime, running: bool) -> None:
    assert clock.is_within(ends_at, HOUR, NOW) is running
