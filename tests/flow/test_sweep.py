"""What is left over goes, in its time; what is in use stays."""

import os
from datetime import timedelta

import pytest
from django.conf import settings

from paraph.documents.models import Document, DocumentStatus
from paraph.flow.housekeeping import sweep as sweeping
from paraph.flow.housekeeping.sweep import sweep
from paraph.kernel import clock
from paraph.storage import store
from tests.factories import scene, sign
from tests.flow.test_jobs import work_off

pytestmark = pytest.mark.django_db


def put(key: str, age: timedelta) -> str:
    """An object that was written so long ago."""
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


@pytest.mark.parametrize("folder", ["documents", "sealed/1", "proofs/1"])
def test_objects_that_no_row_names_go_after_thirty_days(folder: str) -> None:
    old = put(f"{folder}/old.pdf", sweeping.ORPHANED_FOR + timedelta(minutes=1))
    young = put(f"{folder}/young.pdf", sweeping.ORPHANED_FOR - timedelta(minutes=1))
    sweep()
    assert (there(old), there(young)) == (False, True)


def test_objects_in_use_stay_however_old() -> None:
    made = scene(documents=2)
    sign(made)
    work_off()
    keys = [row.document.object_key for row in made.request_documents]
    keys += [row.sealed.object_key for row in made.request_documents]
    made.request.refresh_from_db()
    keys.append(made.request.proof.object_key)
    for key in keys:
        made_older(key, timedelta(days=4000))
    sweep()
    assert [there(key) for key in keys] == [True] * 5


def test_more_orphans_than_one_look_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "_AT_ONCE", 2)
    keys = [put(f"documents/many{number}.pdf", timedelta(days=31)) for number in range(5)]
    sweep()
    assert not any(map(there, keys))


def test_uploads_that_never_became_ready_go_after_a_day() -> None:
    made = scene(documents=1)
    (ready,) = Document.objects.all()
    old, young = (_pending(made.request.organization_id, age) for age in (timedelta(hours=25), timedelta(hours=23)))
    Document.objects.filter(pk=ready.pk).update(created_at=clock.now() - timedelta(days=400))
    sweep()
    assert set(Document.objects.values_list("pk", flat=True)) == {ready.pk, young.pk}
    assert (there(old.object_key), there(young.object_key)) == (False, True)


def test_pictures_of_pages_go_after_a_week() -> None:
    old = put("pages/ab/1.webp", timedelta(days=8))
    young = put("pages/ab/2.webp", timedelta(days=6))
    sweep()
    assert (there(old), there(young)) == (False, True)


def _pending(organization_id: int, age: timedelta) -> Document:
    document = Document.objects.create(
        organization_id=organization_id,
        environment="sandbox",
        name="x.pdf",
        sha256=b"0" * 32,
        file_size=1,
        pages=[[595, 842]],
        preflight={},
        status=DocumentStatus.PENDING,
        object_key=f"documents/pending{age.total_seconds():.0f}.pdf",
        created_at=clock.now() - age,
    )
    store.put(document.object_key, b"content")
    return document
