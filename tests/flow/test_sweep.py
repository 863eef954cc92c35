"""What is left over goes, in its time; what is in use stays."""

import os
from datetime import timedelta

import pytest
from django.conf import settings

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


def test_pictures_of_pages_go_after_a_week() -> None:
    old = put("pages/ab/1.webp", timedelta(days=8))
    young = put("pages/ab/2.webp", timedelta(days=6))
    sweep()
    assert (there(old), there(young)) == (False, True)
