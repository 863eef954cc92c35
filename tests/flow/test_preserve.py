"""Timestamps beside sealed files: late ones, renewals, and what keeps them waiting."""

import json
from dataclasses import replace
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest

from paraph.evidence import preservation
from paraph.evidence.models import KeptTimestamp, ProofFile, SealedDocument
from paraph.flow.sealing import preserve
from paraph.flow.sealing.context import SealingContext, sealing_context
from paraph.flow.sealing.finalize import prove, seal
from paraph.flow.sealing.preserve import preserve_due
from paraph.kernel import clock
from paraph.operations.check.backlog import kept_timestamps
from paraph.operations.request_state import request_evidence
from paraph.pdf.timestamps.detached_timestamps import read_timestamps_file
from paraph.pdf.timestamps.timestamp import Timestamping
from paraph.pdf.verification.verify import verify
from paraph.storage import store
from tests.factories import Scene
from tests.flow.test_seal import _Dead, completed
from tests.threads import beside_each_other

pytestmark = pytest.mark.django_db


def silent() -> SealingContext:
    context = sealing_context()
    return replace(context, timestamping=Timestamping([_Dead()], context.timestamping.roots))


def sealed_without_timestamps(monkeypatch: pytest.MonkeyPatch) -> Scene:
    made = completed()
    with monkeypatch.context() as dead:
        dead.setattr("paraph.flow.sealing.finalize.sealing_context", silent)
        dead.setattr("paraph.flow.sealing.finalize.sealing_context", silent)
        seal(made.request_documents[0].pk)
        prove(made.request.pk)
    return made


def move(monkeypatch: pytest.MonkeyPatch, by: timedelta) -> None:
    real = clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + by)


def test_files_without_a_timestamp_get_one_later_and_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    made = sealed_without_timestamps(monkeypatch)
    files: list[preservation.SealedFile] = [SealedDocument.objects.get(), ProofFile.objects.get()]
    contents, journal = [store.get(file.object_key) for file in files], made.events()
    assert preserve_due() == 2
    assert [store.get(file.object_key) for file in files] == contents and made.events() == journal
    exported = request_evidence(made.request.pk)
    assert [file["name"] for file in json.loads(exported)["files"]] == ["contract-1.pdf", "proof"]
    for content in contents:
        found = verify(content, sealing_context().roots("sandbox"), read_timestamps_file(exported, content))
        assert found.ok and len(found.detached_timestamps) == 1 and found.level == "B-B"
    assert preserve_due() == 0


def test_renewals_come_before_the_newest_ages(monkeypatch: pytest.MonkeyPatch) -> None:
    made = completed()
    seal(made.request_documents[0].pk)
    row = SealedDocument.objects.get()
    assert row.timestamp_due_at is not None
    ends = clock.now() + timedelta(days=3650)
    assert timedelta(days=89) < ends - row.timestamp_due_at < timedelta(days=91)
    assert preserve_due() == 0
    move(monkeypatch, row.timestamp_due_at - clock.now() + timedelta(hours=1))
    assert preserve_due() == 1 and preserve_due() == 0
    again = SealedDocument.objects.get()
    assert again.timestamp_due_at is not None and again.timestamp_due_at > clock.now()
    move(monkeypatch, again.timestamp_due_at - clock.now() + timedelta(minutes=1))
    assert preserve_due() == 1
    assert list(KeptTimestamp.objects.values_list("position", flat=True)) == [1, 2]
    content = store.get(row.object_key)
    kept = preservation.records_of(row.object_key)
    assert len(verify(content, sealing_context().roots("sandbox"), kept).detached_timestamps) == 2


def test_while_nobody_answers_they_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    sealed_without_timestamps(monkeypatch)
    asked: list[bytes] = []

    class Counting(_Dead):
        def answer(self, request: bytes, timeout: float) -> bytes:
            asked.append(request)
            return b""

    with monkeypatch.context() as dead:
        context = silent()
        context = replace(context, timestamping=replace(context.timestamping, authorities=[Counting()]))
        dead.setattr(preserve, "sealing_context", lambda: context)
        assert preserve_due() == 0 and len(asked) == 2  # a document and a proof
    assert preserve_due() == 0
    move(monkeypatch, timedelta(minutes=16))
    assert preserve_due() == 2


def test_a_file_that_storage_changed_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    sealed_without_timestamps(monkeypatch)
    store.put(SealedDocument.objects.get().object_key, b"something else")
    assert preserve_due() == 1
    assert KeptTimestamp.objects.get().object_key == ProofFile.objects.get().object_key


@pytest.mark.django_db(transaction=True)
def test_several_workers_at_once_share_a_backlog_and_stamp_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [sealed_without_timestamps(monkeypatch) for _ in range(3)]
    keys, at_once = list[str](), Barrier(2, timeout=60)

    def slow(object_key: str) -> Any:
        keys.append(object_key)
        if len(keys) <= 2:
            at_once.wait()  # both have claimed a file, and none has a timestamp yet
        return original(object_key)

    original = preservation.records_of
    monkeypatch.setattr(preservation, "records_of", slow)
    assert sum(beside_each_other(preserve_due, preserve_due)) == 2 * len(made)
    assert len(keys) == len(set(keys)) == KeptTimestamp.objects.count() == 2 * len(made)


def test_where_no_timestamps_are_wanted_none_are_kept(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sealing_context()  # is made once, and not with this setting
    monkeypatch.setattr(settings.PARAPH, "seal_level", "B-B")
    sealed_without_timestamps(monkeypatch)
    assert preserve_due() == 0 and SealedDocument.objects.get().timestamp_due_at is None


def test_the_check_tells_what_is_late_tried_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where no authority answers, or more is due than workers do."""
    sealed_without_timestamps(monkeypatch)
    stages = [(0, "ok", ""), (0.05, "warning", "1 sealed file"), (2, "warning", "2 days"), (10, "failed", "10 days")]
    for days, status, says in stages:
        SealedDocument.objects.update(timestamp_due_at=clock.now() - timedelta(days=days))
        outcome = kept_timestamps()
        assert outcome.status == status and says in outcome.sentence, days
        files, seconds = preservation.overdue()
        assert files == (1 if days else 0) and seconds == pytest.approx(days * 86_400, abs=60)
    with monkeypatch.context() as dead:
        dead.setattr(preserve, "sealing_context", silent)
        assert preserve_due() == 0
    assert preservation.overdue()[1] == pytest.approx(10 * 86_400, abs=60), "tried, and late all the same"
    move(monkeypatch, timedelta(minutes=16))
    assert preserve_due() == 2 and preservation.overdue() == (0, 0)
