"""Stored files are encrypted while the service works, once and again with another key."""

from pathlib import Path
from typing import Any

import pytest

from paraph.documents import objects_to_delete
from paraph.documents.models import Document
from paraph.evidence.named_objects import named_objects
from paraph.kernel.errors import DomainError
from paraph.operations.check.surroundings import storage_key
from paraph.operations.store import _encrypt, _Encrypted, encrypt_store, verify_store
from paraph.storage import store
from paraph.storage.encrypted import MARK
from tests.factories import scene
from tests.flow.test_erase import finished

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]

ONE, OTHER = "1" * 32, "2" * 32


def set_keys(settings: Any, key: str, *further: str) -> None:
    changed = {"storage_key": key, "storage_key_previous": list(further)}
    settings.PARAPH = settings.PARAPH.model_copy(update=changed)


def plain_files(data_dir: Path) -> list[str]:
    files = [path for path in (data_dir / "objects").rglob("*") if path.is_file()]
    assert files
    return [path.name for path in files if not path.read_bytes().startswith(MARK)]


def test_a_flow_under_a_key_leaves_nothing_in_the_clear(data_dir: Path, settings: Any) -> None:
    set_keys(settings, ONE)
    finished(scene(documents=2))
    assert plain_files(data_dir) == []
    found = verify_store(data_dir / "progress.json", 1e12)
    assert (found["objects"], found["problems"]) == (5, [])


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
    found = verify_store(data_dir / "progress.json", 1e12)
    assert (found["objects"], found["problems"]) == (5, [])
    set_keys(settings, ONE)
    assert {each["problem"] for each in verify_store(data_dir / "progress.json", 1e12)["problems"]} == {"unreadable"}


def test_it_goes_on_where_it_was_stopped(data_dir: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.operations.store._ENCRYPTED_AT_ONCE", 2)
    made = scene(documents=5)
    store.delete(made.request_documents[0].document.object_key)
    set_keys(settings, ONE)
    runs = [encrypt_store(data_dir / "encrypt.json", seconds=0)]
    while not runs[-1]["finished"]:
        assert len(runs) < 20
        runs.append(encrypt_store(data_dir / "encrypt.json", seconds=0))
    assert len(runs) > 2 and runs[-1]["encrypted"] == 4
    assert [each["problem"] for each in runs[-1]["problems"]] == ["missing"]


def test_what_is_deleted_meanwhile_does_not_come_back(data_dir: Path, settings: Any) -> None:
    """The row was read before, its object is deleted, and only then comes its turn."""
    document = scene().request_documents[0].document
    set_keys(settings, ONE)
    named = next(named_objects("document"))
    Document.objects.filter(pk=document.pk).update(file_deleted_at="2026-01-01T00:00:00Z")
    objects_to_delete.note([document.object_key])
    assert objects_to_delete.delete_noted() == 1
    _encrypt(named, _Encrypted(data_dir / "encrypt.json"))
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
