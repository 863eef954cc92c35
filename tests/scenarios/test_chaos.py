"""A short run of ``make chaos``; its seed is printed when it fails."""

import random
from pathlib import Path

from tests.chaos.run import chaos


def test_nothing_is_lost_among_faults(tmp_path: Path) -> None:
    report = chaos(tmp_path, seed=random.randrange(10**6), requests=10, seconds=120, pause=0.7)
    assert report.problems == [], report
    assert report.faults.total() > 0
