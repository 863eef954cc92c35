"""A backup finds each object that its rows name; a restored database gives no number out twice, nor does one that
went on from a standby or from a copy, whatever it has lost."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from django.db import connection, transaction
from procrastinate.contrib.django.utils import connector_params

from paraph.documents import objects_to_delete
from paraph.documents.models import Document, ObjectToDelete
from paraph.evidence.models import Backup
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.kernel.secrets import Secrets
from paraph.kernel.settings import Settings
from paraph.operations.backup.archive import checked_archive
from paraph.operations.backup.restore import (
    give_no_number_twice,
    require_same_secret,
    restore_objects,
    restore_secret_and_keys,
)
from paraph.operations.backup.write import foreign, write_backup
from paraph.postgres import transfer
from paraph.storage import store
from paraph.storage.encrypted import is_encrypted
from paraph.tenants.models import Installation
from tests.factories import scene
from tests.threads import beside_each_other

pytestmark = pytest.mark.django_db(transaction=True)
LOCK = objects_to_delete._ADVISORY_LOCK


def no_rows(*_: object) -> tuple[bytes, dict[str, int]]:
    """The dump of a database without rows."""
    return b"", {f"public.{table}": 0 for table in connection.introspection.django_table_names()}


@pytest.fixture
def out(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a backup to be written, of a database without rows, beside the objects of the test alone."""
    monkeypatch.setattr(transfer, "dump", no_rows)
    return data_dir / "paraph.backup"


def test_no_object_is_deleted_while_another_connection_keeps_them() -> None:
    with psycopg.connect(**connector_params(), autocommit=True) as other:
        free = "SELECT pg_try_advisory_lock_shared(%s)"
        with objects_to_delete.kept():
            assert other.execute(free, [LOCK]).fetchone() == (False,)
        assert other.execute(free, [LOCK]).fetchone() == (True,)
    store.put("documents/kept.pdf", b"%PDF-")
    objects_to_delete.note(["documents/kept.pdf"])
    with psycopg.connect(**connector_params(), autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        assert objects_to_delete.delete_noted() == 0
        assert store.get("documents/kept.pdf") and ObjectToDelete.objects.count() == 1
        other.execute("SELECT pg_advisory_unlock(%s)", [LOCK])
    assert objects_to_delete.delete_noted() == 1
    assert not ObjectToDelete.objects.exists()


def test_a_lock_that_was_lost_meanwhile_is_told() -> None:
    with pytest.raises(DomainError, match="broke meanwhile"), objects_to_delete.kept(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_unlock_all()")


def test_what_is_deleted_during_a_backup_is_in_it(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = scene().request_documents[0].document

    def delete() -> None:
        Document.objects.filter(pk=document.pk).update(file_deleted_at=clock.now())
        objects_to_delete.note([document.object_key])
        objects_to_delete.delete_noted()
        connection.close()

    def dump(_url: str, _target: object, ours: Any, _foreign: object) -> tuple[bytes, dict[str, int]]:
        ours.execute("SELECT")
        with ThreadPoolExecutor() as pool:
            pool.submit(delete).result()
        return no_rows()

    monkeypatch.setattr(transfer, "dump", dump)
    made = write_backup(out)
    assert (made["objects"], made["problems"]) == (1, [])
    with checked_archive(out, "backup") as archive:
        assert archive.read(f"objects/{document.object_key}") == store.get(document.object_key)
    assert objects_to_delete.delete_noted() == 1


def test_it_tells_which_objects_are_missing_or_changed(out: Path) -> None:
    missing, changed = (row.document.object_key for row in scene(documents=2).request_documents)
    store.delete(missing)
    store.put(changed, b"other")
    told = [(problem["problem"], problem["key"]) for problem in write_backup(out)["problems"]]
    assert told == [("missing", missing), ("changed", changed)]
    assert Backup.objects.get().problems == 2


def test_the_file_is_its_owners_alone_never_overwritten_and_refused_where_it_is_damaged(out: Path) -> None:
    content = store.get(scene().request_documents[0].document.object_key)
    write_backup(out)
    assert out.stat().st_mode & 0o777 == 0o600
    with pytest.raises(DomainError, match="exists already"):
        write_backup(out)
    whole = out.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole.replace(content, content[:-1] + b"x")):
        out.write_bytes(damaged)
        with pytest.raises(DomainError, match=r"paraph\.backup cannot be used"), checked_archive(out, "backup"):
            pass


def test_a_backup_is_restored_under_another_storage_key(settings: Any, out: Path) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"storage_key": "1" * 32})
    made = scene()
    key = made.request_documents[0].document.object_key
    assert write_backup(out)["problems"] == []
    settings.PARAPH = settings.PARAPH.model_copy(update={"storage_key": "2" * 32})
    with checked_archive(out, "backup") as archive:
        assert restore_objects(archive) == 1
    assert store.get(key) == made.uploads[0]
    assert is_encrypted((out.parent / "objects" / key).read_bytes())


def test_a_backup_amid_a_rotation_holds_all_secrets(
    settings: Any, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SECRETS = Secrets(b"n" * 40, [b"o" * 40])
    write_backup(out)
    elsewhere = Settings(data_dir=tmp_path / "elsewhere")
    elsewhere.data_dir.mkdir()
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_size))
    with checked_archive(out, "backup") as archive:
        restore_secret_and_keys(archive, elsewhere)
        assert synced == [40, 40], "all that was written is on the disk"
        require_same_secret(archive, elsewhere)
        require_same_secret(archive, Settings(data_dir=tmp_path / "own", secret_key="n" * 40))
        with pytest.raises(DomainError, match="belongs to another secret"):
            require_same_secret(archive, Settings(data_dir=tmp_path / "own", secret_key="x" * 40))
    assert (tmp_path / "elsewhere" / "secret.key").read_bytes() == b"n" * 40
    assert (tmp_path / "elsewhere" / "secret.previous").read_bytes() == b"o" * 40
    assert (tmp_path / "elsewhere" / "secret.previous").stat().st_mode & 0o077 == 0


def test_a_table_that_the_dump_lacks_is_told(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing, tables = no_rows()
    del tables["public.webhooks_event"]
    monkeypatch.setattr(transfer, "dump", lambda *_: (nothing, tables))
    with pytest.raises(DomainError, match="The tables webhooks_event belong to another role than the others"):
        write_backup(out)
    assert list(out.parent.glob("*backup*")) == []


def test_a_file_that_cannot_be_read_back_is_none(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk keeps a byte that differs from the one written."""
    key = scene().request_documents[0].document.object_key

    def sync(descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").resolve()
        if path.name == ".paraph.backup.part":
            os.pwrite(descriptor, b"X", path.read_bytes().index(store.get(key)))

    monkeypatch.setattr(os, "fsync", sync)
    with pytest.raises(DomainError, match="cut or was changed"):
        write_backup(out)
    assert list(out.parent.glob("*backup*")) == [] and not Backup.objects.exists()


def test_nothing_of_the_service_is_taken_for_that_of_others() -> None:
    """Each table, sequence, function, type and trigger that the migrations make is known by its name."""
    with transaction.atomic():
        connection.ensure_connection()
        found = foreign(cast(Any, connection.connection))
    assert (found.schema, found.relations, found.others) == ("public", [], set())


def follow() -> int | None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT organizations_follow_timeline(), organizations_follow_timeline()")
    return Installation.objects.get().timeline


@pytest.fixture
def installation(db: None) -> Installation:
    return Installation.objects.update_or_create(pk=1, defaults={"secret_fingerprint": b"f", "timeline": None})[0]


def test_the_first_timeline_that_is_known_moves_nothing(installation: Installation) -> None:
    before = scene().request.pk
    assert follow()
    assert before < scene().request.pk < before + 100_000


def test_a_standby_that_takes_over_moves_every_number_on(installation: Installation) -> None:
    before, here = scene(), follow()
    Installation.objects.update(timeline=4711)
    assert follow() == here
    after = scene()
    assert before.request.pk + 100_000 < after.request.pk < before.request.pk + 200_000
    assert before.signers[0].pk + 100_000 < after.signers[0].pk < before.signers[0].pk + 200_000


def test_a_copy_of_the_database_moves_them_on_as_well(installation: Installation) -> None:
    before, here = scene().request.pk, follow()
    give_no_number_twice()
    assert follow() == here
    assert before + 100_000 < scene().request.pk < before + 200_000


@pytest.mark.django_db(transaction=True)
def test_connections_that_are_made_at_once_move_them_on_once(installation: Installation) -> None:
    before = scene().request.pk
    Installation.objects.update(timeline=4711)
    beside_each_other(*[_connect] * 8)
    assert before + 100_000 < scene().request.pk < before + 200_000


def _connect() -> None:
    connection.ensure_connection()  # the connection of this thread
