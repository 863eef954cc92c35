"""A minute among killed processes and failing surroundings. ``make chaos`` is the long run."""

from pathlib import Path

from tests.chaos.run import chaos


def test_nothing_is_lost_and_nothing_done_twice(tmp_path: Path) -> None:
    report = chaos(tmp_path, seed=11, requests=24, least_faults=21, seconds=200, pause=0.5, storm=90)
    assert report.problems == []
    assert report.faults.total() >= 21  # two of each kind
