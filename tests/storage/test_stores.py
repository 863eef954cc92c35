"""Stores in a folder and in a bucket: what is put is there, whole, and nowhere else; a store that fails is told from a
missing object and from a full disk; encrypted objects are read from any offset, and refused if changed."""

import errno
import io
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from obstore.exceptions import GenericError

from paraph.kernel import clock
from paraph.kernel.errors import AwayError, DomainError
from paraph.storage import store
from paraph.storage.encrypted import (
    CHUNK,
    HEADER,
    STORED_CHUNK,
    DamagedObjectError,
    EncryptedStore,
    StorageKeys,
    UnknownStorageKeyError,
    content_size,
)
from paraph.storage.local import LocalStore
from paraph.storage.objects import Store
from paraph.storage.remote import RemoteStore
from paraph.storage.store import describing_faults
from tests.storage.s3_server import s3_server, use


@pytest.fixture
def local(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "objects")


@pytest.fixture(params=["folder", "bucket"])
def kept(request: pytest.FixtureRequest, local: LocalStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    if request.param == "folder":
        yield local
        return
    with s3_server() as address:
        use(monkeypatch, address)
        yield RemoteStore("s3://bucket/paraph", address)  # its own addresses for downloads are those of the server


def test_bytes_and_files_come_back(kept: Store) -> None:
    kept.put("documents/a.pdf", b"first")
    kept.put("documents/a.pdf", io.BytesIO(b"second"))
    assert kept.get("documents/a.pdf") == b"second"
    with kept.open("documents/a.pdf") as file:
        assert file.read(3) == b"sec"
        assert isinstance(file.read(), bytes)
        assert file.seek(0, 2) == 6
    for _ in range(2):
        kept.delete("documents/a.pdf")
    for act in (kept.get, kept.open):
        with pytest.raises(FileNotFoundError):
            act("documents/a.pdf")


KEYS = ["sealed/1/a", "sealed/1/b-1", "sealed/10/a", "sealed/2/x", "sealed/2.x", "sealed/a", "sealed/b/c/d"]


@pytest.mark.parametrize("most", [1, 2, 100])
def test_a_listing_goes_on_beyond_any_key_in_the_order_of_keys(
    kept: Store, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paraph.storage.local._LISTED", most)
    kept.put("sealed-of-another/1", b"b")
    for key in reversed(KEYS):
        kept.put(key, b"content")
    assert sorted(KEYS) != KEYS
    for after in ["", *KEYS, "sealed/1/aa", "sealed/z"]:
        assert [key for key, *_ in kept.listing("sealed/", after)] == [key for key in sorted(KEYS) if key > after]
    _, size, written = next(iter(kept.listing("sealed/", "")))
    assert size == 7 and abs(clock.now() - written) < timedelta(minutes=1)
    assert list(kept.listing("none/", "")) == []


def test_several_objects_are_deleted_at_once_and_those_that_are_gone_hinder_none(kept: Store) -> None:
    for key in KEYS:
        kept.put(key, b"content")
    kept.delete(*KEYS[:3], "sealed/none", KEYS[4])
    assert [key for key, *_ in kept.listing("sealed/", "")] == sorted([KEYS[3], *KEYS[5:]])
    kept.delete()


def test_no_key_leaves_the_store(kept: Store) -> None:
    for key in (
        "", "/etc/passwd", "../secret.key", "a/../../b", "a//b", "a/.", ".drafts/x", "a\\..\\b", "a\0b", "é", "a/",
        "a" * 201,
    ):  # fmt: skip
        for act in (kept.get, kept.open, kept.delete, lambda key: kept.put(key, b"x")):
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


def test_a_draft_is_an_object_when_it_is_kept_and_nothing_otherwise(kept: Store) -> None:
    with kept.stage() as draft:
        draft.file.write(b"written ")
        draft.file.write(b"in parts")
        draft.keep("documents/a.pdf")
    assert kept.get("documents/a.pdf") == b"written in parts"
    with kept.stage() as draft:
        draft.file.write(b"forgotten")
    with pytest.raises(ValueError, match="not an object key"), kept.stage() as draft:
        draft.keep("../a")
    assert [key for key, *_ in kept.listing("documents/", "")] == ["documents/a.pdf"]
    if isinstance(kept, LocalStore):
        assert list((kept.root / ".drafts").iterdir()) == []


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


def test_an_address_that_is_none_gets_a_sentence() -> None:
    with pytest.raises(DomainError, match="PARAPH_STORAGE_URL nowhere://x is not usable"):
        RemoteStore("nowhere://x")


KEY = "documents/a.pdf"


@pytest.fixture
def objects(data_dir: Path) -> Path:
    store.put(KEY, b"content")
    return data_dir / "objects"


@pytest.mark.usefixtures("objects", "store_away")
def test_a_store_that_is_away_says_so() -> None:
    for act in (
        lambda: store.put(KEY, b"other"),
        lambda: store.get(KEY),
        lambda: store.open(KEY),
        lambda: store.delete(KEY),
        lambda: store.stage().__enter__(),
    ):
        with pytest.raises(AwayError, match="the object store fails"):
            act()


def test_one_that_goes_away_while_an_object_is_written_says_so(objects: Path) -> None:
    with pytest.raises(AwayError), store.stage() as staged:
        staged.file.write(b"other")
        objects.rename(objects.with_suffix(".away"))
        staged.keep(KEY)
    assert (objects.with_suffix(".away") / KEY).read_bytes() == b"content"


def test_what_else_fails_meanwhile_stays_what_it_is(objects: Path) -> None:
    with pytest.raises(ConnectionResetError), store.stage():
        raise ConnectionResetError
    assert not list((objects / ".drafts").iterdir())
    (objects / KEY).unlink()
    for act in (store.get, store.open):
        with pytest.raises(FileNotFoundError):
            act(KEY)
    with pytest.raises(OSError) as full, describing_faults():
        raise OSError(errno.ENOSPC, "No space left on device")
    assert full.value.errno == errno.ENOSPC and not isinstance(full.value, AwayError)


def test_a_bucket_tells_in_its_own_errors() -> None:
    bucket = RemoteStore("memory://")
    with pytest.raises(AwayError, match=r"] the object store fails: memory:// answers: it is away$"), bucket._asking():
        raise GenericError("it\nis away\n\nDebug source:\nGeneric {…}")


ONE, OTHER = "1" * 32, "2" * 32
SIZES = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 7]


def content(size: int) -> bytes:
    return (bytes(range(251)) * (size // 251 + 1))[:size]


def test_whatever_is_put_comes_back_and_lies_encrypted(kept: Store) -> None:
    store = EncryptedStore(kept, StorageKeys(ONE))
    for size in SIZES:
        whole = content(size)
        for put in (whole, io.BytesIO(whole)):
            store.put(KEY, put)
            stored = kept.get(KEY)
            assert store.get(KEY) == whole
            assert content_size(len(stored), KEY) == size
            assert size < 32 or whole[:32] not in stored
    with store.stage() as draft:
        draft.file.write(content(CHUNK + 9))
        draft.keep(KEY)
    assert store.get(KEY) == content(CHUNK + 9) != kept.get(KEY)
    assert [key for key, *_ in store.listing("documents/", "")] == [KEY]
    store.delete(KEY)
    with pytest.raises(FileNotFoundError):
        store.open(KEY)
    assert "/files/documents/a.pdf?expires=" in store.presign(KEY, "Contract.pdf", 900), "no bucket can decrypt"
    for key in ("documents/a.pdf", "documents/b.pdf"):
        store.put(key, content(100))
    assert kept.get("documents/a.pdf")[HEADER:] != kept.get("documents/b.pdf")[HEADER:], "equal contents"


def test_any_part_can_be_read(kept: Store) -> None:
    store, whole = EncryptedStore(kept, StorageKeys(ONE)), content(3 * CHUNK + 7)
    store.put(KEY, whole)
    with store.open(KEY) as file:
        assert file.seek(0, io.SEEK_END) == len(whole)
        for start in (0, 1, CHUNK - 1, CHUNK, 2 * CHUNK + 5, len(whole) - 1, len(whole), len(whole) + 9):
            for length in (1, 100, CHUNK, 2 * CHUNK + 1):
                file.seek(start)
                assert file.read(length) == whole[start : start + length]
        file.seek(0)
        assert file.read() == whole


def test_what_was_cut_changed_moved_or_renamed_is_not_read(local: LocalStore) -> None:
    store = EncryptedStore(local, StorageKeys(ONE))
    store.put(KEY, content(3 * CHUNK))
    stored = local.get(KEY)
    chunks = [stored[start : start + STORED_CHUNK] for start in range(HEADER, len(stored), STORED_CHUNK)]
    header = stored[:HEADER]
    wrong = {
        "cut at a chunk": header + chunks[0] + chunks[1],
        "cut anywhere": stored[:-1],
        "nothing but a header": header,
        "cut in the first chunk": header + chunks[0][:9],
        "longer": stored + b"x" * 20,
        "a chunk twice": header + chunks[0] + chunks[0] + chunks[2],
        "chunks moved": header + chunks[1] + chunks[0] + chunks[2],
        "a bit of the content": stored[:-1] + bytes([stored[-1] ^ 1]),
        "a bit of the header": header[:-1] + bytes([header[-1] ^ 1]) + stored[HEADER:],
    }
    for how, changed in wrong.items():
        local.put(KEY, changed)
        for read in (store.get, lambda key: store.open(key).read()):
            with pytest.raises(DamagedObjectError):
                read(KEY)
                pytest.fail(how)
    local.put("documents/b.pdf", stored)
    with pytest.raises(DamagedObjectError, match=r"documents/b\.pdf is damaged, or was changed"):
        store.get("documents/b.pdf")


def test_objects_from_before_are_read_and_can_be_encrypted(kept: Store) -> None:
    store = EncryptedStore(kept, StorageKeys(ONE))
    kept.put(KEY, content(CHUNK + 1))
    assert store.get(KEY) == content(CHUNK + 1)
    with store.open(KEY) as file:
        assert file.read() == content(CHUNK + 1)
    assert not store.is_current(KEY)
    store.encrypt_anew(KEY)
    assert store.is_current(KEY) and store.get(KEY) == content(CHUNK + 1) != kept.get(KEY)


def test_another_key_changes_the_header_alone(kept: Store) -> None:
    EncryptedStore(kept, StorageKeys(ONE)).put(KEY, content(CHUNK + 1))
    before = kept.get(KEY)
    both = EncryptedStore(kept, StorageKeys(OTHER, [ONE]))
    assert both.get(KEY) == content(CHUNK + 1) and not both.is_current(KEY)
    both.encrypt_anew(KEY)
    after = kept.get(KEY)
    assert after[HEADER:] == before[HEADER:] and after[:HEADER] != before[:HEADER]
    assert EncryptedStore(kept, StorageKeys(OTHER)).get(KEY) == content(CHUNK + 1)
    with pytest.raises(UnknownStorageKeyError, match="encrypted with a storage key that is not set here"):
        EncryptedStore(kept, StorageKeys(ONE)).get(KEY)


def test_keys_that_only_open_encrypt_nothing(kept: Store) -> None:
    EncryptedStore(kept, StorageKeys(ONE)).put(KEY, content(9))
    opening = EncryptedStore(kept, StorageKeys("", [ONE]))
    assert opening.get(KEY) == content(9)
    opening.put("documents/b.pdf", content(9))
    with opening.stage() as draft:
        draft.file.write(content(9))
        draft.keep("documents/c.pdf")
    assert kept.get("documents/b.pdf") == kept.get("documents/c.pdf") == content(9)
