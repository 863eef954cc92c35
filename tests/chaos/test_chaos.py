"""Half a minute among killed processes and failing surroundings, each once; ``make thorough`` has each twice, and
``make chaos`` is the long run."""

from pathlib import Path

import pytest

from tests.chaos.faults import KINDS
from tests.chaos.run import chaos

_EACH = len(KINDS)


@pytest.mark.parametrize(("requests", "faults"), [(9, _EACH), pytest.param(24, 21, marks=pytest.mark.thorough)])
def test_nothing_is_lost_and_nothing_done_twice(tmp_path: Path, requests: int, faults: int) -> None:
    report = chaos(tmp_path, seed=11, requests=requests, least_faults=faults, seconds=200, pause=0.5, storm=90)
    assert report.problems == []
    assert report.faults.total() >= faults
    assert set(report.faults) == set(KINDS)
