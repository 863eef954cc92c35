"""Objects that are encrypted in their store: read at any size and from any offset, and refused if changed."""

import io
from pathlib import Path

import pytest

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

ONE, OTHER = "1" * 32, "2" * 32
KEY = "documents/a.pdf"
SIZES = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 7]


@pytest.fixture(params=["local", "remote"])
def plain(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return LocalStore(tmp_path / "objects") if request.param == "local" else RemoteStore("memory://")


@pytest.fixture
def local(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "objects")


def content(size: int) -> bytes:
    return (bytes(range(251)) * (size // 251 + 1))[:size]


def test_whatever_is_put_comes_back_and_lies_encrypted(plain: Store) -> None:
    store = EncryptedStore(plain, StorageKeys(ONE))
    for size in SIZES:
        whole = content(size)
        for put in (whole, io.BytesIO(whole)):
            store.put(KEY, put)
            stored = plain.get(KEY)
            assert store.get(KEY) == whole
            assert content_size(len(stored), KEY) == size
            assert size < 32 or whole[:32] not in stored
    with store.stage() as draft:
        draft.file.write(content(CHUNK + 9))
        draft.keep(KEY)
    assert store.get(KEY) == content(CHUNK + 9) != plain.get(KEY)
    assert [key for key, *_ in store.listing("documents/", "")] == [KEY]
    store.delete(KEY)
    with pytest.raises(FileNotFoundError):
        store.open(KEY)
    assert "/files/documents/a.pdf?expires=" in store.presign(KEY, "Contract.pdf", 900), "no bucket can decrypt"
    for key in ("documents/a.pdf", "documents/b.pdf"):
        store.put(key, content(100))
    assert plain.get("documents/a.pdf")[HEADER:] != plain.get("documents/b.pdf")[HEADER:], "equal contents"


def test_any_part_can_be_read(plain: Store) -> None:
    store, whole = EncryptedStore(plain, StorageKeys(ONE)), content(3 * CHUNK + 7)
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


def test_objects_from_before_are_read_and_can_be_encrypted(plain: Store) -> None:
    store = EncryptedStore(plain, StorageKeys(ONE))
    plain.put(KEY, content(CHUNK + 1))
    assert store.get(KEY) == content(CHUNK + 1)
    with store.open(KEY) as file:
        assert file.read() == content(CHUNK + 1)
    assert not store.is_current(KEY)
    store.encrypt_anew(KEY)
    assert store.is_current(KEY) and store.get(KEY) == content(CHUNK + 1) != plain.get(KEY)


def test_another_key_changes_the_header_alone(plain: Store) -> None:
    EncryptedStore(plain, StorageKeys(ONE)).put(KEY, content(CHUNK + 1))
    before = plain.get(KEY)
    both = EncryptedStore(plain, StorageKeys(OTHER, [ONE]))
    assert both.get(KEY) == content(CHUNK + 1) and not both.is_current(KEY)
    both.encrypt_anew(KEY)
    after = plain.get(KEY)
    assert after[HEADER:] == before[HEADER:] and after[:HEADER] != before[:HEADER]
    assert EncryptedStore(plain, StorageKeys(OTHER)).get(KEY) == content(CHUNK + 1)
    with pytest.raises(UnknownStorageKeyError, match="encrypted with a storage key that is not set here"):
        EncryptedStore(plain, StorageKeys(ONE)).get(KEY)


def test_keys_that_only_open_encrypt_nothing(plain: Store) -> None:
    EncryptedStore(plain, StorageKeys(ONE)).put(KEY, content(9))
    opening = EncryptedStore(plain, StorageKeys("", [ONE]))
    assert opening.get(KEY) == content(9)
    opening.put("documents/b.pdf", content(9))
    with opening.stage() as draft:
        draft.file.write(content(9))
        draft.keep("documents/c.pdf")
    assert plain.get("documents/b.pdf") == plain.get("documents/c.pdf") == content(9)
