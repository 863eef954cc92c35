"""What the database lost is told by what this machine noted and stored, is kept, and numbers are given out once."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from paraph.audit_trail import witness
from paraph.audit_trail.append import SERVICE, begin
from paraph.audit_trail.models import Entry, EventType
from paraph.evidence.models import Timeline
from paraph.evidence.timelines import settle, unsettled
from paraph.flow.housekeeping.sweep import ORPHANED_FOR, sweep
from paraph.kernel import clock
from paraph.operations.check.database import replication
from paraph.operations.check.safekeeping import history
from paraph.operations.loss import loss
from paraph.signature_requests.models import SignatureRequest
from paraph.storage import store
from tests.factories import scene

pytestmark = pytest.mark.django_db

Committing = Callable[..., AbstractContextManager[Any]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path


def went_on() -> Timeline:
    """A standby has taken over just now."""
    return Timeline.objects.create(number=7, began_at=clock.now() + timedelta(seconds=1))


def put(key: str, age: timedelta, folder: Path) -> str:
    store.put(key, b"content")
    moment = (clock.now() - age).timestamp()
    os.utime(folder / "objects" / key, (moment, moment))
    return key


def test_what_was_noted_and_is_not_there_is_lost(django_capture_on_commit_callbacks: Committing, folder: Path) -> None:
    events: list[tuple[EventType, dict[str, Any]]] = [(EventType.CREATED, {})]
    with django_capture_on_commit_callbacks(execute=True):
        kept = scene().request
        lost = begin(SignatureRequest(id=12345, organization_id=kept.organization_id), events, SERVICE)
        another = begin(kept, events, SERVICE)  # as of a request whose number was given out again
    witness.note_webhooks([(kept.pk, 1, "signer.signed"), (12345, 2, "signer.signed")])
    named = put("documents/12/lost.pdf", timedelta(minutes=10), folder)
    put("documents/12/older.pdf", timedelta(days=3), folder)
    found = loss(went_on())
    assert {(each.request_id, each.hash) for each in found.entries} == {
        (12345, bytes(lost[0].hash).hex()),
        (kept.pk, bytes(another[0].hash).hex()),
    }
    assert Entry.objects.filter(request=kept).exists()
    assert [each.delivery_id for each in found.webhooks] == [2]
    assert found.objects == [named]


def test_a_transaction_that_is_rolled_back_notes_nothing(folder: Path) -> None:
    scene()
    assert not (folder / "witness.log").exists()


def test_the_notes_stay_small(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witness, "_MOST_BYTES", 1000)
    for number in range(100):
        witness.note_webhooks([(number, number, "signer.signed")])
    assert sum(path.stat().st_size for path in folder.glob("witness*")) < 2200
    noted = [each.request_id for each in witness.noted_since(clock.now() - timedelta(hours=1))]
    assert noted == list(range(noted[0], 100))
    with (folder / "witness.log").open("a") as file:
        file.write("2026-01-01T00:00 entr")  # cut by a crash
    assert len(list(witness.noted_since(clock.now() - timedelta(hours=1)))) == len(noted)


def test_a_disk_that_is_full_stops_nothing(folder: Path) -> None:
    (folder / "witness.log").mkdir()
    witness.note_webhooks([(1, 1, "signer.signed")])


def test_the_check_tells_until_it_is_dealt_with(folder: Path) -> None:
    assert [outcome.status for outcome in history()] == ["ok"]
    went_on()
    [outcome] = history()
    assert outcome.status == "warning" and "timeline 7); this machine misses nothing" in outcome.sentence
    witness.note_webhooks([(12345, 2, "signer.signed")])
    put("sealed/1/lost.pdf", timedelta(minutes=10), folder)
    [outcome] = history()
    lost = "lost the requests of 1 webhooks that were sent, the rows of 1 objects: run paraph reconcile"
    assert outcome.status == "failed" and lost in outcome.sentence
    assert settle() == 1
    assert [outcome.status for outcome in history()] == ["ok"]


def test_objects_without_a_row_are_kept_meanwhile(folder: Path) -> None:
    key = put("sealed/1/lost.pdf", ORPHANED_FOR + timedelta(days=1), folder)
    went_on()
    sweep()
    assert store.get(key) == b"content"
    settle()
    sweep()
    with pytest.raises(FileNotFoundError):
        store.get(key)


def test_a_new_timeline_moves_every_number_on() -> None:
    before = scene().request
    assert unsettled() is None
    with connection.cursor() as cursor:
        cursor.execute("SELECT evidence_follow_timeline()")
        assert unsettled() is None  # the one it is on is known since the tables were made
        cursor.execute("UPDATE evidence_timeline SET number = number + 1000")
        cursor.execute("SELECT evidence_follow_timeline(), evidence_follow_timeline()")
    assert unsettled() is not None
    after = scene().request
    assert before.pk + 100_000 < after.pk < before.pk + 200_000


def test_a_database_without_a_standby_is_well() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = on")  # that of the tests has no time for disks
    assert [(outcome.name, outcome.status) for outcome in replication()] == [("replication", "ok")]


def test_commits_that_wait_for_nothing_are_told() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = off")
    [outcome] = replication()
    assert outcome.status == "warning" and "synchronous_commit is off" in outcome.sentence
