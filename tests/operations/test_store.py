"""Rows compared with objects, both ways; objects that are copied to another store, or encrypted, while the service
works."""

import os
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from paraph.documents import objects_to_delete
from paraph.documents.models import Document
from paraph.evidence.named_objects import named_objects
from paraph.kernel import clock
from paraph.kernel.errors import AwayError, DomainError
from paraph.operations import store as verify
from paraph.operations.check.surroundings import storage_key
from paraph.operations.store import Progress, _encrypt, copy_store, encrypt_store, opened, problem_with, verify_store
from paraph.storage import store
from paraph.storage.encrypted import MARK
from paraph.storage.local import LocalStore
from paraph.storage.remote import RemoteStore
from tests.factories import finish, scene
from tests.flow.test_erase import finished
from tests.storage.s3_server import s3_server, use, variables

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]
FAST = 1e12
ONE, OTHER = "1" * 32, "2" * 32
URL = "s3://bucket/paraph"


def test_a_machine_without_a_data_folder_can_verify(tmp_path: Path) -> None:
    assert verify_store(tmp_path / "new" / "progress.json", FAST)["finished"]
    assert list((tmp_path / "new").iterdir()) == []


def test_every_object_of_a_finalized_request_is_read(data_dir: Path) -> None:
    made = finish(scene(documents=2))
    found = verify_store(data_dir / "progress.json", FAST)
    assert (found["finished"], found["objects"], found["problems"]) == (True, 2 + 2 + 1, [])
    assert found["bytes"] > sum(map(len, made.uploads))
    assert not (data_dir / "progress.json").exists()


def test_what_is_missing_changed_or_unnamed_is_listed(data_dir: Path) -> None:
    made = finish(scene(documents=2))
    uploads = [row.document.object_key for row in made.request_documents]
    sealed_key = made.request_documents[0].sealed.object_key
    store.delete(uploads[0])
    store.put(sealed_key, store.get(sealed_key)[:-1] + b"x")
    leave(data_dir, "documents/left.pdf", clock.now() - timedelta(hours=2))
    leave(data_dir, "documents/young.pdf", clock.now())
    leave(data_dir, "documents/noted.pdf", clock.now() - timedelta(hours=2))
    objects_to_delete.note(["documents/noted.pdf"])
    found = verify_store(data_dir / "progress.json", FAST)
    document = made.request_documents[0].document_id
    assert [(each["problem"], each["key"]) for each in found["problems"]] == [
        ("missing", uploads[0]),
        ("changed", sealed_key),
        ("unnamed", "documents/left.pdf"),
    ]
    assert found["problems"][0]["row"] == f"document {document}" and found["found"] == 3


def test_a_prepared_file_is_compared_as_well(data_dir: Path) -> None:
    document = scene().request_documents[0].document
    Document.objects.filter(pk=document.pk).update(prepared_sha256=b"x" * 32, prepared_size=1)
    document.refresh_from_db()
    found = verify_store(data_dir / "progress.json", FAST)
    assert [(each["problem"], each["key"]) for each in found["problems"]] == [("missing", document.shown_key)]


def until_finished(run: Callable[[], dict[str, Any]]) -> list[dict[str, Any]]:
    runs = [run()]
    while not runs[-1]["finished"]:
        assert len(runs) < 20
        runs.append(run())
    return runs


def test_it_goes_on_where_it_was_stopped(data_dir: Path) -> None:
    made = scene(documents=3)
    store.delete(made.request_documents[0].document.object_key)
    runs = until_finished(lambda: verify_store(data_dir / "progress.json", FAST, seconds=0))
    assert len(runs) == 3, "each run does a piece"
    assert [each["problem"] for each in runs[-1]["problems"]] == ["missing"] and runs[-1]["found"] == 1
    assert runs[-1]["began_at"] == runs[0]["began_at"]


def test_a_run_that_is_killed_keeps_what_it_found(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = scene(documents=3)
    store.delete(made.request_documents[0].document.object_key)

    def killed(named: Any, take: Any) -> Any:
        if named.key == made.request_documents[2].document.object_key:
            raise KeyboardInterrupt
        return problem_with(named, take)

    with monkeypatch.context() as patch:
        patch.setattr(verify, "problem_with", killed)
        with pytest.raises(KeyboardInterrupt):
            verify_store(data_dir / "progress.json", FAST)
    found = verify_store(data_dir / "progress.json", FAST)
    assert found["finished"] and found["found"] == 1 and found["objects"] <= 4


def test_it_reads_no_faster_than_it_is_told(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    made = scene()
    verify_store(data_dir / "progress.json", rate=len(made.uploads[0]) / 1000)
    assert 900 < slept[-1] <= 1000


def test_a_row_that_goes_meanwhile_is_no_problem(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = scene().request_documents[0].document

    def gone(*_: object) -> dict[str, str]:
        Document.objects.filter(pk=document.pk).update(file_deleted_at=clock.now())
        return {"problem": "missing", "key": document.object_key, "row": ""}

    monkeypatch.setattr(verify, "problem_with", gone)
    assert verify_store(data_dir / "progress.json", FAST)["problems"] == []


def leave(data_dir: Path, key: str, written: Any) -> None:
    store.put(key, b"%PDF-")
    os.utime(data_dir / "objects" / key, (written.timestamp(), written.timestamp()))


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[RemoteStore]:
    with s3_server() as address:
        use(monkeypatch, address)
        yield RemoteStore(URL)


@pytest.fixture
def folder(data_dir: Path) -> LocalStore:
    return LocalStore(data_dir / "objects")


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
    assert not key or plain_files(data_dir) == []

    settings.PARAPH = settings.PARAPH.model_copy(update={"storage_url": URL})
    found = verify_store(data_dir / "progress.json", FAST)
    assert (found["objects"], found["problems"]) == (8, [])
    finished(scene())
    newest = bucket.get(Document.objects.latest("pk").object_key)
    assert newest.startswith(MARK) == bool(key)
    back = LocalStore(data_dir / "back")
    assert copy_store(bucket, back, progress)["copied"] == 11
    other = RemoteStore("s3://other/elsewhere")
    assert copy_store(bucket, other, progress)["copied"] == 11


def test_it_says_what_remains_and_goes_on(data_dir: Path, folder: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.operations.store._ROWS", 2)
    scene(documents=5)
    there = LocalStore(data_dir / "there")
    runs = until_finished(lambda: copy_store(folder, there, data_dir / "copy.json", seconds=0))
    assert (runs[0]["finished"], runs[0]["remain"]) == (False, 3)
    assert len(runs) > 2 and (runs[-1]["copied"], runs[-1]["remain"]) == (5, 0)


def test_what_is_missing_changed_or_cut_on_its_way_is_told(data_dir: Path, folder: LocalStore) -> None:
    class Cutting(LocalStore):
        """A store that loses the last byte of one object."""

        def _keep(self, file: BinaryIO, staged: Path, key: str) -> None:
            if key == keys[2]:
                file.truncate(file.seek(-1, os.SEEK_END))
            super()._keep(file, staged, key)

    uploads = [listed.document for listed in scene(documents=5).request_documents]
    keys = [document.object_key for document in uploads]
    there = Cutting(data_dir / "there")
    there.put(keys[3], b"half")  # of another length: it is copied again
    folder.delete(keys[0])
    folder.put(keys[1], b"something else")
    found = copy_store(folder, there, data_dir / "copy.json")
    told = {(problem["problem"], problem["key"]) for problem in found["problems"]}
    assert told == {("missing", keys[0]), ("changed", keys[1]), ("changed", keys[2])}
    rows = {problem["key"]: problem["row"] for problem in found["problems"]}
    assert rows == {key: f"document {document.pk}" for key, document in list(zip(keys, uploads, strict=True))[:3]}
    assert found["copied"] == 2 and found["finished"]
    assert there.get(keys[3]) == folder.get(keys[3])


def test_a_file_without_its_storage_key_is_told(data_dir: Path, settings: Any, folder: LocalStore) -> None:
    set_keys(settings, ONE)
    scene()
    set_keys(settings, "")
    found = copy_store(folder, LocalStore(data_dir / "there"), data_dir / "copy.json")
    assert [(each["problem"], each["row"].split()[0]) for each in found["problems"]] == [("unreadable", "document")]


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
    monkeypatch.setenv("TARGET_PLATFORM", "linux/amd64")  # set by image builders; no provider has such a variable
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


def set_keys(settings: Any, key: str, *further: str) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"storage_key": key, "storage_key_previous": list(further)})


def plain_files(data_dir: Path) -> list[str]:
    files = [path for path in (data_dir / "objects").rglob("*") if path.is_file()]
    assert files
    return [path.name for path in files if not path.read_bytes().startswith(MARK)]


def test_files_from_before_are_encrypted_and_later_their_keys(data_dir: Path, settings: Any) -> None:
    finished(scene(documents=2))
    store.put("pages/abc/1.webp", b"picture")
    set_keys(settings, ONE)
    progress = data_dir / "encrypt.json"
    assert encrypt_store(progress) == {"finished": True, "objects": 5, "encrypted": 5, "problems": []}
    assert plain_files(data_dir) == [] and not progress.exists()
    assert encrypt_store(progress)["encrypted"] == 0

    set_keys(settings, OTHER, ONE)
    assert encrypt_store(progress)["encrypted"] == 5
    set_keys(settings, OTHER)
    found = verify_store(data_dir / "progress.json", FAST)
    assert (found["objects"], found["problems"]) == (5, [])
    set_keys(settings, ONE)
    assert {each["problem"] for each in verify_store(data_dir / "progress.json", FAST)["problems"]} == {"unreadable"}


def test_encrypting_goes_on_where_it_was_stopped(
    data_dir: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paraph.operations.store._ENCRYPTED_AT_ONCE", 2)
    made = scene(documents=5)
    lost = made.request_documents[0].document
    store.delete(lost.object_key)
    set_keys(settings, ONE)
    runs = until_finished(lambda: encrypt_store(data_dir / "encrypt.json", seconds=0))
    assert len(runs) > 2 and runs[-1]["encrypted"] == 4
    assert runs[-1]["problems"] == [{"problem": "missing", "key": lost.object_key, "row": f"document {lost.pk}"}]


def test_what_is_deleted_meanwhile_does_not_come_back(data_dir: Path, settings: Any) -> None:
    """The row is read, then its object is deleted, and only then is it to be encrypted."""
    document = scene().request_documents[0].document
    set_keys(settings, ONE)
    named = next(named_objects("document"))
    Document.objects.filter(pk=document.pk).update(file_deleted_at="2026-01-01T00:00:00Z")
    objects_to_delete.note([document.object_key])
    assert objects_to_delete.delete_noted() == 1
    _encrypt(named, Progress(data_dir / "encrypt.json"))
    with pytest.raises(FileNotFoundError):
        store.get(document.object_key)


def test_a_machine_without_the_key_is_told(settings: Any) -> None:
    set_keys(settings, ONE)
    document = scene().request_documents[0].document
    Document.objects.filter(pk=document.pk).update(status="ready")
    assert storage_key().status == "ok"
    for keys in ((OTHER,), ("",)):
        set_keys(settings, *keys)
        outcome = storage_key()
        assert outcome.status == "failed" and "a storage key that this machine lacks" in outcome.sentence
    set_keys(settings, OTHER, ONE)
    assert storage_key().status == "ok"


def test_without_a_key_nothing_is_encrypted(data_dir: Path) -> None:
    with pytest.raises(DomainError, match="PARAPH_STORAGE_KEY is not set"):
        encrypt_store(data_dir / "encrypt.json")
