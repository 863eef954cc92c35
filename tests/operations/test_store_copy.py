"""Objects move to another store while the service works, as they are, and are read back there."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from paraph.documents.models import Document
from paraph.kernel.errors import AwayError
from paraph.operations.store import copy_store, opened, verify_store
from paraph.storage.encrypted import MARK
from paraph.storage.local import LocalStore
from paraph.storage.remote import RemoteStore
from tests.factories import scene
from tests.flow.test_erase import finished
from tests.operations.test_store_encryption import ONE, set_keys
from tests.storage.s3_server import s3_server, use, variables

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]

URL = "s3://bucket/paraph"


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[RemoteStore]:
    with s3_server() as address:
        use(monkeypatch, address)
        yield RemoteStore(URL)


@pytest.fixture
def folder(data_dir: Path) -> LocalStore:
    return LocalStore(data_dir / "objects")


def use_bucket(settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"storage_url": URL})


@pytest.mark.parametrize("key", ["", ONE])
def test_from_the_folder_to_a_bucket_and_back(
    data_dir: Path, settings: Any, bucket: RemoteStore, folder: LocalStore, key: str
) -> None:
    set_keys(settings, key)
    finished(scene(documents=2))
    progress = data_dir / "copy.json"
    first = copy_store(folder, bucket, progress)
    assert first == {"finished": True, "objects": 5, "copied": 5, "remain": 0, "problems": []}
    finished(scene())
    again = copy_store(folder, bucket, progress)
    assert (again["objects"], again["copied"]) == (8, 3), "what came meanwhile, and no more"
    assert copy_store(folder, bucket, progress)["copied"] == 0 and not progress.exists()
    for document in Document.objects.all():
        raw = bucket.get(document.object_key)
        assert raw == folder.get(document.object_key) and raw.startswith(MARK) == bool(key)

    use_bucket(settings)
    found = verify_store(data_dir / "progress.json", 1e12)
    assert (found["objects"], found["problems"]) == (8, [])
    finished(scene())
    back = LocalStore(data_dir / "back")
    assert copy_store(bucket, back, progress)["copied"] == 11
    other = RemoteStore("s3://other/elsewhere")
    assert copy_store(bucket, other, progress)["copied"] == 11


def test_it_says_what_remains_and_goes_on(data_dir: Path, folder: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.operations.store._ROWS", 2)
    scene(documents=5)
    there = LocalStore(data_dir / "there")
    runs = [copy_store(folder, there, data_dir / "copy.json", seconds=0)]
    assert (runs[0]["finished"], runs[0]["remain"]) == (False, 3)
    while not runs[-1]["finished"]:
        assert len(runs) < 20
        runs.append(copy_store(folder, there, data_dir / "copy.json", seconds=0))
    assert len(runs) > 2 and (runs[-1]["copied"], runs[-1]["remain"]) == (5, 0)


def test_what_is_missing_changed_or_cut_on_its_way_is_told(data_dir: Path, folder: LocalStore) -> None:
    class Cutting(LocalStore):
        """Keeps less than it is given of one object."""

        def _keep(self, file: BinaryIO, staged: Path, key: str) -> None:
            if key == keys[2]:
                file.truncate(file.seek(-1, os.SEEK_END))
            super()._keep(file, staged, key)

    keys = [document.document.object_key for document in scene(documents=5).request_documents]
    there = Cutting(data_dir / "there")
    there.put(keys[3], b"half")  # of another length: it is made again
    folder.delete(keys[0])
    folder.put(keys[1], b"something else")
    found = copy_store(folder, there, data_dir / "copy.json")
    told = {(problem["problem"], problem["key"]) for problem in found["problems"]}
    assert told == {("missing", keys[0]), ("changed", keys[1]), ("changed", keys[2])}
    assert found["copied"] == 2 and found["finished"]
    assert there.get(keys[3]) == folder.get(keys[3])


def test_a_file_without_its_storage_key_is_told(data_dir: Path, settings: Any, folder: LocalStore) -> None:
    set_keys(settings, ONE)
    scene()
    set_keys(settings, "")
    found = copy_store(folder, LocalStore(data_dir / "there"), data_dir / "copy.json")
    assert [problem["problem"] for problem in found["problems"]] == ["unreadable"]


def test_a_store_that_is_away_ends_it(
    data_dir: Path, folder: LocalStore, bucket: RemoteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene()
    monkeypatch.setattr(bucket, "listing", lambda *_: bucket.get("documents/none"))
    with pytest.raises(AwayError, match="the object store fails"):
        copy_store(folder, bucket, data_dir / "copy.json")


def test_the_target_has_its_own_variables_or_those_of_both(
    bucket: RemoteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TARGET_PLATFORM", "linux/amd64")  # which image builders set, and is no provider's
    opened(URL, "TARGET_").put("documents/both.pdf", b"both")
    assert bucket.get("documents/both.pdf") == b"both"
    with s3_server() as address:
        for name, value in variables(address).items():
            monkeypatch.setenv(f"TARGET_{name}", value)
        before = dict(os.environ)
        source, target = opened(URL), opened(URL, "TARGET_")
        target.put("documents/own.pdf", b"own")
        assert target.get("documents/own.pdf") == b"own"
        with pytest.raises(FileNotFoundError):
            source.get("documents/own.pdf")
        assert dict(os.environ) == before
