"""What the machine has."""

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
