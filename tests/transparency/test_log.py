"""The log grows with the proofs, survives a crash at any point, and never contradicts what it published."""

import base64
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.db import connection
from django.test.utils import CaptureQueriesContext

from paraph.evidence.models import ProofFile
from paraph.flow.sealing.finalize import prove, seal
from paraph.flow.sealing.preserve import keep_log
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.operations.check.sealing import transparency_log
from paraph.operations.store import encrypt_store
from paraph.storage import store
from paraph.transparency import log
from paraph.transparency.log import rebuild
from paraph.transparency.merkle import leaf_hash, root_of
from paraph.transparency.models import Checkpoint, LogEntry, LogKey, LogNode
from paraph.transparency.notes import check_tlog_proof, of_log, opened_checkpoint
from paraph.transparency.witnesses import own_key
from tests.flow.test_seal import completed
from tests.pdf.pdf_factory import flipped
from tests.threads import beside_each_other
from tests.transparency.rows import logged, proofs, published

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]


def root() -> bytes:
    newest = published()
    return opened_checkpoint(newest.note, [own_key().log])[1].root


def status() -> tuple[str, str]:
    outcome = transparency_log()
    return outcome.status.value, outcome.sentence


def test_proofs_of_production_are_entries_in_their_order() -> None:
    digests = proofs(300)
    proofs(2, environment="sandbox")
    log.log_proofs()
    assert root() == root_of([leaf_hash(each) for each in digests])
    assert list(ProofFile.objects.order_by("pk").values_list("log_index", flat=True)) == [*range(300), -1, -1]
    digests += logged(300)
    assert root() == root_of([leaf_hash(each) for each in digests])
    assert Checkpoint.objects.count() == 2 and LogNode.objects.count() == 2
    before = Checkpoint.objects.values()
    log.log_proofs()
    assert list(Checkpoint.objects.values()) == list(before)


def test_a_sealed_proof_is_logged_by_the_job_and_its_statements_stay() -> None:
    made = completed(environment="production")
    seal(made.request_documents[0].pk)
    with CaptureQueriesContext(connection) as asked:
        prove(made.request.pk)
    assert "transparency" not in " ".join(query["sql"] for query in asked.captured_queries)
    row = ProofFile.objects.get()
    assert row.log_index is None and log.inclusion_proof_of(row) is None
    keep_log()
    row.refresh_from_db()
    text = log.inclusion_proof_of(row)
    assert text and check_tlog_proof(text, bytes(row.sha256), of_log(own_key().log)).size == 1
    sandbox = completed()
    seal(sandbox.request_documents[0].pk)
    prove(sandbox.request.pk)
    keep_log()
    assert log.inclusion_proof_of(ProofFile.objects.get(request=sandbox.request)) is None
    assert LogEntry.objects.count() == 1


def test_a_proof_belongs_to_the_first_checkpoint_that_has_it() -> None:
    digests = logged(3)
    first = ProofFile.objects.order_by("pk")[1]
    text = log.inclusion_proof_of(first)
    logged(600)
    assert text and log.inclusion_proof_of(first) == text
    assert check_tlog_proof(text, digests[1], of_log(own_key().log)).size == 3
    for row in ProofFile.objects.filter(log_index__in=[0, 1, 2, 3, 255, 256, 300, 511, 512, 601, 602]):
        found = log.inclusion_proof_of(row)
        assert found and check_tlog_proof(found, bytes(row.sha256), of_log(own_key().log)).size in (3, 603)


class _Crash(Exception):
    pass


def log_until_a_crash(monkeypatch: pytest.MonkeyPatch, name: str, times: int) -> None:
    """Log proofs until the named function of the log has been called ``times`` times, then crash at its next call."""
    real, left = getattr(log, name), iter(range(times))

    def act(*arguments: Any) -> Any:
        if next(left, None) is None:
            raise _Crash
        return real(*arguments)

    with monkeypatch.context() as broken, pytest.raises(_Crash):
        broken.setattr(log, name, act)
        log.log_proofs()


@pytest.mark.parametrize(("name", "times"), [("insert", 0), ("bundle", 0), ("bundle", 1), ("witnessed", 1)])
def test_a_crash_loses_nothing_and_gives_no_index_twice(monkeypatch: pytest.MonkeyPatch, name: str, times: int) -> None:
    digests = logged(3)
    digests += proofs(600)
    log_until_a_crash(monkeypatch, name, times)
    promised = Checkpoint.objects.filter(size__gt=3).values_list("note", flat=True).first()
    newest, stored = log.published(), log.stored_checkpoint()
    assert newest and newest.size == 3 and stored and status()[0] == "ok"
    assert stored[0] == (promised if name == "witnessed" else newest.note), "no fork of what the store has"
    digests += logged(2)
    assert root() == root_of([leaf_hash(each) for each in digests])
    assert promised is None or promised in Checkpoint.objects.values_list("note", flat=True)
    indexes = ProofFile.objects.order_by("pk").values_list("log_index", flat=True)
    assert list(indexes) == list(range(605))


def test_nothing_is_appended_upon_a_checkpoint_that_is_not_published(monkeypatch: pytest.MonkeyPatch) -> None:
    """This is so when another process that held the lock ended before it had published."""
    proofs(3)
    log_until_a_crash(monkeypatch, "witnessed", 0)
    proofs(2)
    assert not log._append() and LogEntry.objects.count() == 3 and Checkpoint.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_runs_beside_each_other_number_each_proof_once() -> None:
    digests = proofs(40)
    own_key()
    for _ in range(3):
        beside_each_other(*[log.log_proofs] * 4)
    log.log_proofs()
    assert root() == root_of([leaf_hash(each) for each in digests])
    assert Checkpoint.objects.filter(published_at=None).count() == 0


def restored_to(size: int) -> None:
    """Take the tables back to when the log had ``size`` entries, as an older backup does."""
    LogEntry.objects.filter(index__gte=size).delete()
    LogNode.objects.filter(index__gte=size // 256).delete()
    Checkpoint.objects.filter(size__gt=size).delete()
    ProofFile.objects.filter(log_index__gte=size).delete()


def test_an_older_backup_beside_a_newer_store_is_refused_and_rebuilt() -> None:
    digests = logged(300)
    digests += logged(300)
    before = root()
    restored_to(300)
    lost = proofs(5, word="after the restore")
    for refused in (log.log_proofs, log.require_extends_store):
        with pytest.raises(DomainError, match=r"600 entries, which the database does not extend.*paraph log rebuild"):
            refused()
    keep_log()  # logs the error instead of raising it
    assert LogEntry.objects.count() == 300 and status()[0] == "failed" and "paraph log rebuild" in status()[1]
    assert rebuild() == (300, 0)
    assert root() == before and status()[0] == "ok"
    log.log_proofs()
    assert root() == root_of([leaf_hash(each) for each in [*digests, *lost]])
    assert rebuild() == (0, 0)


def test_a_backup_from_amid_the_first_append_publishes_nothing_over_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    proofs(2)
    log_until_a_crash(monkeypatch, "bundle", 0)
    amid = Checkpoint.objects.values().get()
    log.log_proofs()
    digests = logged(1)
    stored = store.get("transparency/checkpoint")
    restored_to(2)
    Checkpoint.objects.update(**amid)
    with pytest.raises(DomainError, match="3 entries, which the database does not extend"):
        log.log_proofs()
    assert store.get("transparency/checkpoint") == stored and log.published() is None
    assert rebuild() == (1, 0) and log.entries(2, 1) == digests


def test_tables_that_contradict_the_store_are_cut_where_they_part() -> None:
    digests = logged(300)
    digests += logged(20)
    restored_to(300)
    store.delete("transparency/checkpoint")  # so that the fork is published
    kept = log.stored_checkpoint()
    assert kept is None
    forked = proofs(30, word="fork")
    log.log_proofs()
    newest = log.newest()
    assert newest and newest.size == 330
    for at, entry in enumerate(digests[300:], 300):  # the tables get the first branch again; the store has the fork
        LogEntry.objects.filter(index=at).update(sha256=entry)
    note = newest.note
    LogEntry.objects.filter(index__gte=300).delete()
    Checkpoint.objects.filter(size=330).delete()
    ProofFile.objects.filter(log_index__gte=300).update(log_index=None)
    log.insert(300, digests[300:])
    with pytest.raises(DomainError, match="does not extend"):
        log.require_extends_store()
    assert rebuild() == (30, 20)
    found = log.published()
    assert found and found.note == note
    assert log.entries(300, 100) == forked
    log.log_proofs()
    assert root() == root_of([leaf_hash(each) for each in [*digests[:300], *forked]])


@pytest.mark.parametrize("altered", ["entry", "cut", "missing", "checkpoint", "none"])
def test_a_store_that_was_altered_is_not_taken_over(altered: str) -> None:
    logged(260)
    key, checkpoint = "transparency/entries/000", "transparency/checkpoint"
    content = store.get(key)
    if altered == "entry":
        store.put(key, flipped(content))
    elif altered == "cut":
        store.put(key, content[:-1])
    elif altered == "missing":
        store.delete(key)
    elif altered == "checkpoint":
        store.put(checkpoint, store.get(checkpoint).replace(b"\n260\n", b"\n261\n"))
    else:
        store.delete(checkpoint)
    before = list(LogEntry.objects.values_list("index", "sha256"))
    with pytest.raises(DomainError, match=r"transparency log|entries in the object store"):
        rebuild()
    assert list(LogEntry.objects.values_list("index", "sha256")) == before


def test_the_log_of_another_key_is_refused(settings: Any, tmp_path: Path) -> None:
    logged(1)
    LogKey.objects.all().delete()
    with pytest.raises(DomainError, match="of another installation or key"):
        log.require_extends_store()
    assert status()[0] == "failed"


def test_a_store_that_is_new_gets_all_of_the_log() -> None:
    logged(600)
    for name in ("checkpoint", "entries/000", "entries/001", "entries/002"):
        store.delete(f"transparency/{name}")
    logged(1)
    before = root()
    restored_to(600)
    assert rebuild() == (1, 0) and root() == before


@pytest.mark.usefixtures("settings")
def test_once_an_hour_a_checkpoint_gets_a_timestamp(monkeypatch: pytest.MonkeyPatch) -> None:
    real = clock.now
    for minutes, new, size in ((0, True, 1), (0, True, 1), (61, False, 2), (180, False, 2)):
        monkeypatch.setattr(clock, "now", lambda minutes=minutes: real() + timedelta(minutes=minutes))
        if new:
            proofs(1)
        keep_log()
        found = log.stamped()
        assert found and found.size == size and found.token
    assert Checkpoint.objects.filter(token__isnull=False).count() == 2  # without a new proof there is no new timestamp


def test_late_proofs_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    proofs(1)
    assert status()[0] == "ok"
    real = clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + timedelta(minutes=11))
    assert status()[0] == "warning" and "Proofs have waited to be in the log" in status()[1]
    log.log_proofs()
    assert status() == ("ok", "Entries: 1. Witnesses: 0.")


def test_the_stored_log_follows_the_storage_key(settings: Any, tmp_path: Path) -> None:
    logged(300)
    for key, previous in (("k" * 40, []), ("n" * 40, ["k" * 40]), ("n" * 40, [])):
        named = {"storage_key": key, "storage_key_previous": previous}
        settings.PARAPH = settings.PARAPH.model_copy(update=named)
        assert encrypt_store(tmp_path / "progress.json")["finished"] and status()[0] == "ok"
        for name in ("checkpoint", "entries/000", "entries/001"):
            assert store.encrypting().is_current(f"transparency/{name}")
        assert rebuild() == (0, 0)


def test_the_key_stays_with_its_name_and_may_come_from_a_file(settings: Any, tmp_path: Path) -> None:
    own = own_key()
    settings.PARAPH = settings.PARAPH.model_copy(update={"base_url": "https://other.example.com"})
    assert own_key()[1:] == own[1:] and base64.b64encode(own.log.public).decode() not in str(
        LogKey.objects.values_list()
    )
    LogKey.objects.all().delete()
    moved = own_key()
    assert moved.log.name == "other.example.com/transparency" and moved.log.public != own.log.public
    settings.PARAPH = settings.PARAPH.model_copy(update={"log_key": tmp_path / "log.pem"})
    given = Ed25519PrivateKey.generate()
    pem = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "log.pem").write_bytes(given.private_bytes(*pem))
    assert own_key().log == moved.log._replace(public=given.public_key().public_bytes_raw())
    for content in (b"", b"no key", ec.generate_private_key(ec.SECP256R1()).private_bytes(*pem)):
        (tmp_path / "log.pem").write_bytes(content)
        with pytest.raises(DomainError, match="PARAPH_LOG_KEY"):
            own_key()
        assert status()[0] == "failed"
