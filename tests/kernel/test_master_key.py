"""The secret that all other keys derive from."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from paraph.kernel.errors import DomainError
from paraph.kernel.secrets import read_master_key


def test_it_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    first = read_master_key(tmp_path, "")
    assert read_master_key(tmp_path, "") == first
    assert stat.S_IMODE((tmp_path / "secret.key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret.key"]


def test_the_environment_wins(tmp_path: Path) -> None:
    assert read_master_key(tmp_path, "x" * 32) == b"x" * 32
    with pytest.raises(DomainError, match="at least 32 characters"):
        read_master_key(tmp_path, "short")


def test_a_folder_that_cannot_be_used_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DomainError, match="cannot be read or made: File exists"):
        read_master_key(tmp_path / "file", "")


def test_those_who_start_together_agree(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: read_master_key(tmp_path / "data", ""), range(32)))
    assert len(keys) == 1
