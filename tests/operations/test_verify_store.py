"""Rows against objects, both ways."""

import os
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from paraph.documents import objects_to_delete
from paraph.documents.models import Document
from paraph.flow.sealing.finalize import prove, seal
from paraph.kernel import clock
from paraph.operations import store as verify
from paraph.operations.store import problem_with as problem_of
from paraph.operations.store import verify_store
from paraph.storage import store
from tests.factories import Scene, scene, sign

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]
FAST = 1e12


def test_a_machine_without_a_data_folder_can_verify(tmp_path: Path) -> None:
    assert verify_store(tmp_path / "new" / "progress.json", FAST)["finished"]
    assert list((tmp_path / "new").iterdir()) == []


def test_every_object_of_a_finalized_request_is_read(data_dir: Path) -> None:
    found = verify_store(data_dir / "progress.json", FAST)
    made = sealed(scene(documents=2))
    found = verify_store(data_dir / "progress.json", FAST)
    assert (found["finished"], found["objects"], found["problems"]) == (True, 2 + 2 + 1, [])
    assert found["bytes"] > sum(map(len, made.uploads))
    assert not (data_dir / "progress.json").exists()


def test_what_is_missing_changed_or_unnamed_is_listed(data_dir: Path) -> None:
    made = sealed(scene(documents=2))
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


def test_it_goes_on_where_it_was_stopped(data_dir: Path) -> None:
    made = scene(documents=3)
    store.delete(made.request_documents[0].document.object_key)
    first = verify_store(data_dir / "progress.json", FAST, seconds=0)
    runs = [first]
    while not runs[-1]["finished"]:
        assert len(runs) < 20
        runs.append(verify_store(data_dir / "progress.json", FAST, seconds=0))
    assert len(runs) == 3, "each run does a piece"
    assert [each["problem"] for each in runs[-1]["problems"]] == ["missing"] and runs[-1]["found"] == 1
    assert runs[-1]["began_at"] == first["began_at"]


def test_a_run_that_is_killed_keeps_what_it_found(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = scene(documents=3)
    store.delete(made.request_documents[0].document.object_key)
    with monkeypatch.context() as patch:
        patch.setattr(verify, "problem_with", interrupted_at(made.request_documents[2].document.object_key))
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


def sealed(made: Scene) -> Scene:
    sign(made)
    for row in made.request_documents:
        seal(row.pk)
    prove(made.request.pk)
    return made


def leave(data_dir: Path, key: str, written: Any) -> None:
    store.put(key, b"%PDF-")
    os.utime(data_dir / "objects" / key, (written.timestamp(), written.timestamp()))


def interrupted_at(key: str) -> Any:
    def problem_with(named: Any, take: Any) -> Any:
        if named.key == key:
            raise KeyboardInterrupt
        return problem_of(named, take)

    return problem_with
