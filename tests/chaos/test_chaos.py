"""A minute or two among killed processes and failing surroundings, each twice, and where nobody starts a process again.
``make chaos`` is the long run."""

from pathlib import Path

import pytest

from lab.chaos.apart import apart
from lab.chaos.run import Make, chaos
from lab.chaos.supervised import supervised

_KINDS = {
    supervised: {
        "paraph-web",
        "paraph-worker",
        "postgres",
        "fast restart of the database",
        "immediate restart of the database",
    },
    apart: {f"{mode} restart of the database" for mode in ("fast", "immediate", "smart")},
}
_SURROUNDINGS = {"mail server", "timestamp authority", "receiver", "object store", "full disk"}


@pytest.mark.thorough
@pytest.mark.parametrize(("make", "requests", "faults"), [(supervised, 24, 23), (apart, 24, 16)])
def test_nothing_is_lost_and_nothing_done_twice(
    tmp_path: Path, make: Make, requests: int, faults: int, capsys: pytest.CaptureFixture[str]
) -> None:
    report = chaos(tmp_path, make, seed=11, requests=requests, least_faults=faults, seconds=400, pause=0.5, storm=270)
    assert report.problems == []
    assert report.faults.total() >= faults
    could = _SURROUNDINGS - ({"full disk"} if "no full disk" in capsys.readouterr().out else set())
    assert set(report.faults) == _KINDS[make] | could  # type: ignore[index]
