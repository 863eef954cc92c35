"""Files go when the retention of their request is over, leftover files after a time of their own; files in use stay."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db import IntegrityError, transaction
from django.test import Client
from procrastinate.contrib.django.models import ProcrastinateJob

from paraph.audit_trail.journal import broken_at
from paraph.documents import objects_to_delete
from paraph.documents.models import Document, ObjectToDelete
from paraph.drafts.models import DocumentTags, Draft
from paraph.evidence.models import KeptTimestamp, ProofFile, SealedDocument
from paraph.flow.ending import end_early
from paraph.flow.housekeeping import retention as deleting
from paraph.flow.housekeeping import sweep as sweeping
from paraph.flow.housekeeping.retention import delete_due_files, delete_files
from paraph.flow.housekeeping.sweep import UNUSED_FOR, delete_unused_uploads, sweep, sweep_store
from paraph.flow.sealing.finalize import finalize
from paraph.flow.sending.templates import delete_template
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.operations.pending_work import retry
from paraph.operations.request_state import request_state
from paraph.otp.models import OneTimeCode
from paraph.signature_requests import links
from paraph.signature_requests.models import RequestDocument, SignatureRequest
from paraph.storage import store
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.lifecycle import retention_days
from paraph.tenants.models import Storage
from paraph.webhooks.all_deliveries import replay_delivery, replay_request
from paraph.webhooks.models import Delivery
from tests.drafts.author import Author
from tests.factories import Scene, jobs, nothing_shared, scene, sign, uploaded
from tests.flow.test_forget import ended
from tests.flow.test_jobs import work_off
from tests.request_templates.kept import template_of
from tests.tenancy import set_retention
from tests.webhooks.parties import told

pytestmark = pytest.mark.django_db


def finished(days_ago: float, documents: int = 1) -> Scene:
    made = scene(documents=documents)
    sign(made)
    work_off()
    SignatureRequest.objects.filter(pk=made.request.pk).update(completed_at=clock.now() - timedelta(days=days_ago))
    made.request.refresh_from_db()
    return made


def keys(made: Scene) -> list[str]:
    rows = RequestDocument.objects.filter(request=made.request).select_related("document", "sealed")
    found = [key for row in rows for key in (row.document.object_key, row.sealed.object_key)]
    return [*found, ProofFile.objects.get(request=made.request).object_key]


def stored(made: Scene) -> int:
    return Storage.objects.get(organization=made.request.organization_id, environment="sandbox").bytes


def test_files_go_and_the_journal_stays() -> None:
    made = finished(31, documents=2)
    SignatureRequest.objects.update(subject="Your lease", message="Dear Ada")
    objects = keys(made)
    KeptTimestamp.objects.create(object_key=objects[-1], position=1, token=b"", shared=nothing_shared())
    entries = len(made.entries())
    set_retention(made.request.organization_id, "sandbox", 30)
    assert delete_due_files() == 1
    assert not any(map(there, objects))
    assert (SealedDocument.objects.count(), ProofFile.objects.count(), KeptTimestamp.objects.count()) == (0, 0, 0)
    assert stored(made) == 0
    made.request.refresh_from_db()
    assert made.request.finalized and (made.request.subject, made.request.message) == ("", "")
    assert bytes(made.request.signers.get().signature_encrypted or b"") == b""
    assert (len(made.entries()), broken_at(made.entries())) == (entries, None)
    assert request_state(made.request.pk)["why"].startswith("It is finalized, and its files were deleted on")
    assert retry(made.request.pk) == []
    assert delete_due_files() == 0


def test_files_stay_before_their_time_and_where_no_rule_is_and_what_is_not_finalized_keeps_its_own(made: Scene) -> None:
    done = finished(29.9)
    organization_id = done.request.organization_id
    assert delete_due_files() == 0
    for environment, days in (("production", 30), ("sandbox", 30), ("sandbox", None)):
        set_retention(organization_id, environment, days)
        assert delete_due_files() == 0, (environment, days)
    assert retention_days(organization_id) == {"sandbox": None, "production": 30}
    sign(made)
    SignatureRequest.objects.update(completed_at=clock.now() - timedelta(days=4000))
    set_retention(made.request.organization_id, "sandbox", 1)
    assert delete_due_files() == 0 and not delete_files(made.request.pk)
    assert all(map(there, [*keys(done), made.request_documents[0].document.object_key]))


def test_an_early_end_counts_from_that_day() -> None:
    early, pending = ended(0.9), scene()
    for made in (early, pending):
        set_retention(made.request.organization_id, "sandbox", 1)
    assert delete_due_files() == 0
    SignatureRequest.objects.filter(pk=early.request.pk).update(ended_early_at=clock.now() - timedelta(days=2))
    assert delete_due_files() == 1
    assert not there(early.request_documents[0].document.object_key)
    assert there(pending.request_documents[0].document.object_key)


def test_an_upload_stays_while_another_request_has_it_and_goes_with_a_batch_of_both() -> None:
    made, other, same, pending = ended(2), scene(), ended(2), scene()
    [row] = made.request_documents
    for each in (other, same):
        RequestDocument.objects.create(request=each.request, document=row.document, position=7)
    assert delete_files(made.request.pk)
    objects_to_delete.delete_noted()
    assert there(row.document.object_key)
    end_early(OPERATOR, other.request.pk, "over")
    assert delete_files(same.request.pk, pending.request.pk, other.request.pk, 999999) == 2
    assert delete_files(other.request.pk) == 0
    objects_to_delete.delete_noted()
    assert not there(row.document.object_key) and there(pending.request_documents[0].document.object_key)
    assert stored(made) == 0


def test_no_request_begins_with_a_file_that_is_gone_and_no_late_sealing_makes_one_again() -> None:
    made, other = finished(2), scene()
    delete_files(made.request.pk)
    [row] = made.request_documents
    with pytest.raises(IntegrityError, match="is deleted"), transaction.atomic():
        RequestDocument.objects.create(request=other.request, document=row.document, position=7)
    finalize(row.pk)
    assert (SealedDocument.objects.count(), ProofFile.objects.count()) == (0, 0)


def test_a_run_that_is_killed_between_rows_and_objects_is_finished_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    made = finished(2)
    objects = keys(made)
    set_retention(made.request.organization_id, "sandbox", 1)

    def broken(*_keys: str) -> None:
        raise OSError("the store is away")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="away"):
        patch.setattr(store, "delete", broken)
        delete_due_files()
    assert ProofFile.objects.count() == 0
    assert all(map(there, objects))
    assert objects_to_delete.waiting_since() is not None
    delete_due_files()
    assert not any(map(there, objects))
    assert (ObjectToDelete.objects.count(), objects_to_delete.waiting_since()) == (0, None)


def test_a_run_ends_in_its_time_and_the_next_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deleting, "_AT_ONCE", 1)
    made = [ended(2) for _ in range(3)]
    for each in made:
        set_retention(each.request.organization_id, "sandbox", 1)
    assert delete_due_files(seconds=-1) == 0
    assert delete_due_files() == 3


def test_a_signer_finds_no_copy_any_more() -> None:
    made = finished(2)
    [signer] = made.request.signers.all()
    ticket = links.ticket(signer, links.IN_MAIL)
    page = f"{made.url()}?ticket={ticket}"
    copies = [
        made.url(rest=f"/documents/{made.request_documents[0].document_id}/copy.pdf?ticket={ticket}"),
        made.url(rest=f"/proof.pdf?ticket={ticket}"),
    ]
    assert "copy.pdf" in Client().get(page).content.decode()
    delete_files(made.request.pk)
    assert "copy.pdf" not in Client().get(page).content.decode()
    assert [Client().get(address).status_code for address in copies] == [404, 404]


def test_a_webhook_that_would_link_to_nothing_is_not_sent_again() -> None:
    made, _ = told()
    sign(made)
    work_off()
    delivery = Delivery.objects.get(event_type="request.completed")
    Delivery.objects.update(status="delivered")
    assert replay_request(made.request.pk) == Delivery.objects.count()
    Delivery.objects.update(status="delivered")
    delete_files(made.request.pk)
    assert replay_request(made.request.pk) == Delivery.objects.count() - 1
    with pytest.raises(DomainError, match="files that are deleted"):
        replay_delivery(delivery.pk)


def test_uploads_that_no_request_used_go_after_ninety_days(monkeypatch: pytest.MonkeyPatch) -> None:
    used, made = scene(), scene(documents=2)
    old, young = _unused(made, 91, 89)
    Document.objects.filter(pk=used.request_documents[0].document_id).update(created_at=clock.now() - 4 * UNUSED_FOR)
    before = stored(made)
    assert delete_unused_uploads() == 1
    assert (there(old.object_key), there(young.object_key)) == (False, True)
    assert there(used.request_documents[0].document.object_key)
    assert stored(made) == before - old.file_size
    assert timedelta(days=90) == UNUSED_FOR


def test_a_long_table_is_left_to_another_job_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    _unused(scene(documents=2), 91, 91)
    first = Document.objects.order_by("pk")[0].pk
    monkeypatch.setattr(sweeping, "_WINDOW", 1)
    with monkeypatch.context() as patch:
        patch.setattr(sweeping, "_RUN_SECONDS", -1)
        assert delete_unused_uploads(first) == 0
    assert jobs() == [("delete_unused_uploads", {"first": first})]
    work_off()
    assert Document.objects.count() == 0


def _unused(made: Scene, *days: int) -> list[Document]:
    """Take the uploads of a scene out of its request and make each so many days old."""
    for row, age in zip(made.request_documents, days, strict=True):
        row.placements.all().delete()
        row.delete()
        Document.objects.filter(pk=row.document_id).update(created_at=clock.now() - timedelta(days=age))
    return [row.document for row in made.request_documents]


def test_a_document_of_a_template_is_used(charles: Author) -> None:
    template = template_of(charles)
    Draft.objects.all().delete()
    Document.objects.update(created_at=clock.now() - UNUSED_FOR * 2)
    assert delete_unused_uploads() == 0
    delete_template(charles.scope, template.pk, charles.actor)
    assert delete_unused_uploads() == 1


def test_files_of_a_template_outlive_the_retention_of_requests(charles: Author) -> None:
    template = template_of(charles)
    draft = Draft.objects.get()
    request = SignatureRequest.objects.get(pk=charles.send(draft))
    SignatureRequest.objects.filter(pk=request.pk).update(status="expired")
    assert delete_files(request.pk)
    assert Document.objects.get().file_deleted_at is None and not ObjectToDelete.objects.exists()
    DocumentTags.objects.get_or_create(document=Document.objects.get(), defaults={"found": [["ada", 1, 1, 1, 1, 1]]})
    delete_template(charles.scope, template.pk, charles.actor)
    document = Document.objects.get()
    assert document.file_deleted_at and not DocumentTags.objects.exists()  # tags hold words of the pages
    assert document.object_key in ObjectToDelete.objects.values_list("object_key", flat=True)


def test_files_of_a_request_stay_when_a_template_goes(charles: Author) -> None:
    template = template_of(charles)
    charles.send(Draft.objects.get())
    delete_template(charles.scope, template.pk, charles.actor)
    assert Document.objects.get().file_deleted_at is None


def put(key: str, age: timedelta) -> str:
    """Store an object of this age; return its key."""
    store.put(key, b"content")
    made_older(key, age)
    return key


def made_older(key: str, age: timedelta) -> None:
    moment = (clock.now() - age).timestamp()
    os.utime(settings.DATA_DIR / "objects" / key, (moment, moment))


def there(key: str) -> bool:
    try:
        return bool(store.get(key))
    except FileNotFoundError:
        return False


def swept() -> None:
    sweep()
    work_off()


@pytest.mark.parametrize(
    ("folder", "days"), [("documents", 30), ("prepared", 30), ("sealed/1", 30), ("proofs/1", 30), ("pages/ab", 7)]
)
def test_objects_that_no_row_names_go_after_thirty_days_and_pictures_after_a_week(folder: str, days: int) -> None:
    old = put(f"{folder}/old.pdf", timedelta(days=days, minutes=1))
    young = put(f"{folder}/young.pdf", timedelta(days=days, minutes=-1))
    swept()
    assert (there(old), there(young)) == (False, True)


def test_objects_in_use_stay_however_old() -> None:
    made = finished(0, documents=2)
    prepared = uploaded(made.scope(), b"a line that no PDF begins with\n" + made.uploads[0])
    objects = [*keys(made), prepared.object_key, prepared.shown_key]
    for key in objects:
        made_older(key, timedelta(days=4000))
    swept()
    assert len(set(objects)) == 7 and all(map(there, objects))


def test_more_orphans_than_one_look_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "_AT_ONCE", 2)
    keys = [put(f"documents/many{number}.pdf", timedelta(days=31)) for number in range(5)]
    swept()
    assert not any(map(there, keys))


def test_a_sweep_that_is_stopped_goes_on_where_it_was(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "_AT_ONCE", 2)
    monkeypatch.setattr(sweeping, "RUN_SECONDS", -1)  # as if each look took all the time there is
    keys = [put(f"documents/{number}.pdf", timedelta(days=31)) for number in range(5)]
    picture = put("pages/ab/1.webp", timedelta(days=8))
    sweep()
    begun = ("sweep_store", {"folder": "documents/", "after": ""})
    assert jobs() == [begun]
    assert sweep_store("documents/", "") == 2
    goes_on = ("sweep_store", {"folder": "documents/", "after": keys[1]})
    assert jobs() == [begun, goes_on]
    assert [there(key) for key in keys] == [False, False, True, True, True]

    looked_at: list[str] = []
    listing = store.listing
    monkeypatch.setattr(store, "listing", lambda *of: (looked_at.append(each[0]) or each for each in listing(*of)))  # type: ignore[func-returns-value]
    sweep()  # the next night
    assert jobs() == [begun, goes_on]
    sweep_store(**goes_on[1])  # again, as its worker was killed
    assert looked_at == keys[2:4]
    ProcrastinateJob.objects.all()._raw_delete("default")
    sweep_store("documents/", keys[3])
    work_off()
    assert looked_at == [*keys[2:], picture] and not any(map(there, [*keys, picture]))


def test_a_sweep_is_begun_anew_once_it_is_through(data_dir: Path) -> None:
    sweep()
    assert work_off() == ["sweep_store"] * len(sweeping._FOLDERS)
    assert jobs()[-1] == ("sweep_store", {"folder": "pages/", "after": ""})


@pytest.mark.parametrize(
    ("hours", "wrong_guesses", "is_there"), [(23, 0, True), (25, 0, False), (25, 1, True), (None, 0, True)]
)
def test_a_code_goes_a_day_after_the_signature_unless_wrong_ones_were_entered(
    hours: int | None, wrong_guesses: int, is_there: bool, made: Scene
) -> None:
    sign(made)
    code = OneTimeCode.objects.filter(signer=made.signers[0].pk)
    used = {"used_at": hours and clock.now() - timedelta(hours=hours)}
    assert code.update(wrong_guesses=wrong_guesses, **used) == 1
    sweep()
    assert code.exists() == is_there
