"""What a backup finds named stays in its place until it has read it."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from paraph.database.sessions import connection_parameters
from paraph.documents import objects_to_delete
from paraph.documents.models import Document, ObjectToDelete
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.operations.backup.archive import checked_archive
from paraph.operations.backup.write import write_backup
from paraph.postgres import transfer
from paraph.storage import store
from tests.factories import scene

pytestmark = pytest.mark.django_db(transaction=True)
LOCK = objects_to_delete._ADVISORY_LOCK


def test_no_object_is_deleted_while_another_connection_keeps_them() -> None:
    store.put("documents/kept.pdf", b"%PDF-")
    objects_to_delete.note(["documents/kept.pdf"])
    with psycopg.connect(**connection_parameters(), autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        assert objects_to_delete.delete_noted() == 0
        assert store.get("documents/kept.pdf") and ObjectToDelete.objects.count() == 1
        other.execute("SELECT pg_advisory_unlock(%s)", [LOCK])
    assert objects_to_delete.delete_noted() == 1
    assert not ObjectToDelete.objects.exists()


def test_keeping_ends_with_the_block() -> None:
    with psycopg.connect(**connection_parameters(), autocommit=True) as other:
        with objects_to_delete.kept():
            assert other.execute("SELECT pg_try_advisory_lock_shared(%s)", [LOCK]).fetchone() == (False,)
        assert other.execute("SELECT pg_try_advisory_lock_shared(%s)", [LOCK]).fetchone() == (True,)


def test_a_lock_that_was_lost_meanwhile_is_told() -> None:
    with (
        pytest.raises(DomainError, match="broke meanwhile"),
        objects_to_delete.kept(),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT pg_advisory_unlock_all()")


def test_what_is_deleted_during_a_backup_is_in_it(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = tmp_path
    document = scene().request_documents[0].document

    def delete() -> None:
        Document.objects.filter(pk=document.pk).update(file_deleted_at=clock.now())
        objects_to_delete.note([document.object_key])
        objects_to_delete.delete_noted()
        connection.close()

    def dump(*_: object) -> None:
        with ThreadPoolExecutor() as pool:
            pool.submit(delete).result()

    monkeypatch.setattr(transfer, "dump", dump)
    made = write_backup(tmp_path / "paraph.backup")
    assert (made["objects"], made["problems"]) == (1, [])
    with checked_archive(tmp_path / "paraph.backup", "backup") as archive:
        assert archive.read(f"objects/{document.object_key}") == store.get(document.object_key)
    assert objects_to_delete.delete_noted() == 1
