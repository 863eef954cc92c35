"""What is left over goes, in its time; what is in use stays."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from procrastinate.contrib.django.models import ProcrastinateJob

from paraph.flow.housekeeping import sweep as sweeping
from paraph.flow.housekeeping.sweep import sweep, sweep_store
from paraph.kernel import clock
from paraph.otp.models import OneTimeCode
from paraph.storage import store
from tests.factories import Scene, jobs, scene, sign
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


def swept() -> None:
    sweep()
    work_off()


@pytest.mark.parametrize(("folder", "days"), [("documents", 30), ("sealed/1", 30), ("proofs/1", 30), ("pages/ab", 7)])
def test_objects_that_no_row_names_go_after_thirty_days_and_pictures_after_a_week(folder: str, days: int) -> None:
    old = put(f"{folder}/old.pdf", timedelta(days=days, minutes=1))
    young = put(f"{folder}/young.pdf", timedelta(days=days, minutes=-1))
    swept()
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
    swept()
    assert [there(key) for key in keys] == [True] * 5


def test_more_orphans_than_one_look_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "_AT_ONCE", 2)
    keys = [put(f"documents/many{number}.pdf", timedelta(days=31)) for number in range(5)]
    swept()
    assert not any(map(there, keys))


def test_a_sweep_that_is_stopped_goes_on_where_it_was(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "_AT_ONCE", 2)
    monkeypatch.setattr(sweeping, "RUN_SECONDS", -1)  # as if each look took all of the time
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
    sweep()  # of the next night
    assert jobs() == [begun, goes_on]
    sweep_store(**goes_on[1])  # once more, as the worker was killed that was at it
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
