"""What ``paraph check`` says of disks that fill."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paraph.operations.check.machine import disks
from paraph.operations.resources import used_shares

MIB = 1024 * 1024


@pytest.fixture
def hundred_mib(tmp_path: Path) -> Iterator[Path]:
    """A disk of 100 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=100m", "tmpfs", str(place)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"a small disk can only be made by root: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


@pytest.mark.parametrize(("mib", "expected"), [(88, "ok"), (91, "warning"), (96, "warning"), (98, "failed")])
def test_the_fullest_disk_is_judged(hundred_mib: Path, settings: Any, mib: int, expected: str) -> None:
    settings.DATA_DIR = hundred_mib
    if max(used_shares().values()) > 0.87:
        pytest.skip("another disk of this machine is fuller")
    with (hundred_mib / "filler").open("wb") as file:
        for _ in range(mib):
            file.write(b"x" * MIB)
    [outcome] = disks()
    assert (outcome.name, outcome.status) == ("disk", expected)
    assert f"{mib}% full" in outcome.sentence and str(hundred_mib) in outcome.sentence


def test_a_folder_that_is_not_there_is_left_out(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path / "gone"
    assert set(used_shares()) == {"temporary"}
