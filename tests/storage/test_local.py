"""The local store: what is put is there, whole, and nowhere else."""

import io
import os
from datetime import timedelta
from pathlib import Path

import pytest

from paraph.kernel import clock
from paraph.storage.local import LocalStore


@pytest.fixture
def local(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "objects")


def test_bytes_and_files_come_back(local: LocalStore) -> None:
    local.put("documents/a.pdf", b"first")
    local.put("documents/a.pdf", io.BytesIO(b"second"))
    assert local.get("documents/a.pdf") == b"second"
    with local.open("documents/a.pdf") as file:
        assert file.read(3) == b"sec"


def test_keys_of_a_folder_that_are_old_enough(local: LocalStore) -> None:
    local.put("pages/a/1.webp", b"a")
    local.put("pages-of-another/1.webp", b"b")
    assert list(local.keys_written_before("pages/", clock.now() + timedelta(minutes=1))) == ["pages/a/1.webp"]
    assert list(local.keys_written_before("pages/", clock.now() - timedelta(minutes=1))) == []
    assert list(local.keys_written_before("none/", clock.now())) == []


def test_a_missing_object_is_a_missing_file(local: LocalStore) -> None:
    local.delete("documents/none.pdf")
    with pytest.raises(FileNotFoundError):
        local.get("documents/none.pdf")
    with pytest.raises(FileNotFoundError):
        local.open("documents/none.pdf")


@pytest.mark.parametrize(
    "key",
    [
        "",
        "/etc/passwd",
        "../secret.key",
        "a/../../b",
        "a//b",
        "a/.",
        ".drafts/x",
        "a\\..\\b",
        "a\0b",
        "é",
        "a" * 201,
        "a/",
    ],
)
def test_no_key_leaves_the_store(local: LocalStore, key: str) -> None:
    for act in (local.get, local.open, local.delete, lambda key: local.put(key, b"x")):
        with pytest.raises(ValueError, match="not an object key"):
            act(key)


def test_a_failed_write_leaves_the_old_object_and_no_draft(local: LocalStore) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError("gone")

    local.put("a.pdf", b"old")
    with pytest.raises(OSError, match="gone"):
        local.put("a.pdf", Broken())
    assert local.get("a.pdf") == b"old"
    assert list((local.root / ".drafts").iterdir()) == []


def test_a_draft_is_an_object_when_it_is_kept_and_nothing_otherwise(local: LocalStore) -> None:
    with local.stage() as draft:
        draft.file.write(b"written ")
        draft.file.write(b"in parts")
        draft.keep("documents/a.pdf")
    assert local.get("documents/a.pdf") == b"written in parts"
    with local.stage() as draft:
        draft.file.write(b"forgotten")
    with pytest.raises(ValueError, match="not an object key"), local.stage() as draft:
        draft.keep("../a")
    assert list((local.root / ".drafts").iterdir()) == []


def test_sweep_removes_what_a_crash_left(local: LocalStore) -> None:
    local.put("a.pdf", b"kept")
    (local.root / ".drafts" / "half").write_bytes(b"ha")
    local.sweep()
    assert not (local.root / ".drafts" / "half").exists()
    assert local.get("a.pdf") == b"kept"


def test_others_on_the_machine_see_nothing(local: LocalStore) -> None:
    previous = os.umask(0)
    try:
        local.put("documents/a.pdf", b"x")
    finally:
        os.umask(previous)
    for path in (local.root, local.root / "documents", local.root / "documents" / "a.pdf"):
        assert path.stat().st_mode & 0o077 == 0


def test_the_file_and_the_folder_are_synced_before_put_returns(
    local: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    really = os.fsync

    def fsync(handle: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
        really(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    local.put("documents/a.pdf", b"x")
    assert any("/.drafts/" in path for path in synced)
    assert synced[-1] == str(local.root / "documents")
    assert str(local.root) in synced  # the new folder's own name
