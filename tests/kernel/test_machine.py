"""Processors, memory and open files that this process may use."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from paraph.kernel import machine


def test_a_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    whole = machine.cores(), machine.memory_bytes()
    (tmp_path / "cpu.max").write_text("50000 100000\n")
    (tmp_path / "memory.max").write_text("1048576\n")
    assert (machine.cores(), machine.memory_bytes()) == (1, 1048576)
    (tmp_path / "cpu.max").write_text("max 100000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert (machine.cores(), machine.memory_bytes()) == whole


@pytest.fixture
def files() -> Iterator[int]:
    """The hard limit of open files. Afterwards the limits of this process are what they were."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield limits[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_connections_are_as_many_as_files_allow(files: int) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, files))
    assert machine.connections() == 1024 - 512
    machine.raise_file_limit()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard == files and soft == (min(files, 4096 + 512) if files != resource.RLIM_INFINITY else 4096 + 512)
    assert machine.connections() == min(4096, soft - 512)


def test_a_limit_that_is_high_enough_stays(files: int) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    machine.raise_file_limit()
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == files
