"""A folder or bucket that fails is told from an object that is missing, and from a disk that is full."""

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from obstore.exceptions import GenericError

from paraph.kernel.errors import AwayError
from paraph.storage import store
from paraph.storage.encrypted import EncryptedStore
from paraph.storage.envelope import StorageKeys
from paraph.storage.local import LocalStore
from paraph.storage.remote import RemoteStore
from paraph.storage.store import telling_faults

KEY = "documents/a.pdf"


@pytest.fixture
def objects(tmp_path: Path, settings: Any) -> Path:
    settings.DATA_DIR = tmp_path
    store.put(KEY, b"content")
    return tmp_path / "objects"


@pytest.fixture
def away(objects: Path) -> Iterator[None]:
    """A file where the folder should be."""
    objects.rename(objects.with_suffix(".away"))
    objects.write_text("")
    yield
    objects.unlink()
    objects.with_suffix(".away").rename(objects)


@pytest.mark.usefixtures("away")
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


def test_a_missing_object_is_missing(objects: Path) -> None:
    (objects / KEY).unlink()
    for act in (store.get, store.open):
        with pytest.raises(FileNotFoundError):
            act(KEY)


def test_what_else_fails_meanwhile_stays_what_it_is(objects: Path) -> None:
    with pytest.raises(ConnectionResetError), store.stage():
        raise ConnectionResetError
    assert not list((objects / ".drafts").iterdir())


def test_a_full_disk_keeps_its_number(tmp_path: Path) -> None:
    with pytest.raises(OSError) as full, telling_faults(LocalStore(tmp_path)):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert full.value.errno == errno.ENOSPC and not isinstance(full.value, AwayError)


def test_a_bucket_tells_in_its_own_errors() -> None:
    bucket = EncryptedStore(RemoteStore("memory://"), StorageKeys("k" * 32, ()))
    with pytest.raises(AwayError, match="the object store fails: it is away"), telling_faults(bucket):
        raise GenericError("it\nis away")
