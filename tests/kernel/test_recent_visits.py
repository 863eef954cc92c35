"""Whether others have come lately."""

import pytest

from paraph.kernel.recent_visits import RecentVisits


def test_others_are_those_who_came_lately_and_are_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("paraph.kernel.recent_visits.time.monotonic", lambda: now[0])
    visits = RecentVisits()
    assert not visits.of_others("a")
    visits.add("a")
    assert not visits.of_others("a")
    assert visits.of_others("b")
    visits.add("b")
    for _ in range(3):
        now[0] += 12
        visits.add("a")
    assert not visits.of_others("a")  # the last of them 36 s ago
    assert visits.of_others("b")
    visits.add("c")
    assert visits.of_others("a")
    assert visits.of_others("c")
