"""What ``paraph check`` and ``/metrics`` say of backups, retention, standbys, disks, fonts and confinement."""

import dataclasses
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from paraph.confinement import Confinement
from paraph.documents.models import ObjectToDelete
from paraph.evidence.models import Backup
from paraph.flow.housekeeping import retention as due
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.operations import exposition
from paraph.operations.check import backlog, database
from paraph.operations.check import machine as check
from paraph.operations.check.backlog import backup, retention
from paraph.operations.check.machine import confinement, disks, used_shares
from paraph.operations.check.outcome import Outcome, Status
from paraph.operations.check.service_checks import CHECKS, KeptOutcomes, ServiceCheck, require_start
from paraph.operations.pending_work import longest_overdue
from paraph.pdf.typesetting import fonts
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import Organization
from paraph.webhooks.models import Delivery
from tests.factories import Scene, scene, sign
from tests.small_disk import small_disk
from tests.tenancy import set_retention
from tests.webhooks.parties import told

pytestmark = pytest.mark.django_db


def outcome() -> tuple[str, str]:
    found = backup()
    return found.status, found.sentence


def figure(name: str, **labels: str) -> float | None:
    families = text_string_to_metric_families(exposition.exposition().decode())
    samples = (sample for family in families for sample in family.samples if sample.name == name)
    return next((sample.value for sample in samples if labels.items() <= sample.labels.items()), None)


def begin(ago: timedelta) -> datetime:
    """The service is in use since then."""
    then = clock.now() - ago
    Organization.objects.create(name="Acmé", plan="free", created_at=then)
    return then


@pytest.mark.parametrize(("days", "expected"), [(7, "ok"), (9, "warning")])
def test_the_age_of_the_newest_sound_backup_counts(days: int, expected: str) -> None:
    begin(timedelta(days=30))
    then = clock.now() - timedelta(days=days)
    for as_of, problems in ((then, 0), (then - timedelta(days=1), 0), (clock.now(), 1)):
        Backup.objects.create(as_of=as_of, problems=problems)
    assert outcome()[0] == expected and clock.iso(then) in outcome()[1]
    assert figure("paraph_backup_seconds") == pytest.approx(then.timestamp(), abs=0.001)


def test_before_the_first_backup_a_day_passes_in_silence() -> None:
    assert outcome() == ("ok", "None was made yet.") and figure("paraph_backup_seconds") is None
    began = begin(timedelta(hours=23))
    assert outcome() == ("ok", "None was made yet.")
    assert figure("paraph_backup_seconds") == pytest.approx(began.timestamp(), abs=0.001), (
        "for the alert, two days later"
    )
    Organization.objects.update(created_at=clock.now() - timedelta(hours=25))
    assert outcome()[0] == "warning" and "None was made yet: run paraph backup" in outcome()[1]
    Backup.objects.create(as_of=clock.now(), problems=1)
    assert outcome()[0] == "warning", "one with problems is none"


def test_a_database_that_archives_is_backed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    begin(timedelta(days=30))
    monkeypatch.setattr(backlog, "_ARCHIVED", "SELECT now() - interval '7 days'")
    assert outcome()[0] == "ok" and outcome()[1].startswith("PostgreSQL archives what it writes")
    monkeypatch.setattr(backlog, "_ARCHIVED", "SELECT now() - interval '9 days'")
    assert outcome()[0] == "warning"


def test_a_webhook_that_is_late_has_its_age_told() -> None:
    assert figure("paraph_webhook_age_seconds") == 0
    made, _secret = told()
    sign(made)
    Delivery.objects.update(status="waiting", due_at=clock.now() - timedelta(minutes=20))
    assert figure("paraph_webhook_age_seconds") == pytest.approx(1200, abs=60)


def test_how_long_the_oldest_signed_request_waits_for_its_seals_is_told() -> None:
    assert figure("paraph_unsealed_age_seconds") == 0
    for minutes, environment, finalized in [(5, "production", False), (20, "sandbox", False), (30, "production", True)]:
        made = scene(environment=environment).request
        since = clock.now() - timedelta(minutes=minutes)
        SignatureRequest.objects.filter(pk=made.pk).update(status="completed", completed_at=since, finalized=finalized)
    assert figure("paraph_unsealed_age_seconds") == pytest.approx(300, abs=60)


def test_lines_of_the_check_are_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {"database": Status.OK, "timestamp https://tsa.example.com": Status.WARNING, "mail": Status.FAILED}
    checks = [ServiceCheck(name, partial(iter, [Outcome(name, status, "")]), 9) for name, status in parts.items()]
    monkeypatch.setattr(exposition, "FIGURES", KeptOutcomes(lambda: checks))
    families = text_string_to_metric_families(exposition.exposition().decode())
    [found] = [family for family in families if family.name == "paraph_check"]
    assert {sample.labels["line"]: sample.value for sample in found.samples} == {
        "database": 0,
        "timestamp https://tsa.example.com": 1,
        "mail": 2,
    }


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("missing", "best", "strict"),
    [
        ({}, "ok", "ok"),
        ({"namespaces": "Operation not permitted"}, "ok", "failed"),
        ({"namespaces": "a", "Landlock": "b"}, "warning", "failed"),
        ({"seccomp": "c"}, "warning", "failed"),
    ],
)
def test_confinement_by_what_the_kernel_offers(
    settings: Any, monkeypatch: pytest.MonkeyPatch, missing: dict[str, str], best: str, strict: str
) -> None:
    monkeypatch.setattr(check, "sandbox_confinement", lambda: Confinement(missing))
    assert confinement().status == best
    settings.PARAPH = settings.PARAPH.model_copy(update={"confinement": "strict"})
    assert confinement().status == strict
    if strict == "failed":
        with pytest.raises(DomainError) as refused:
            require_start()
        assert "PARAPH_CONFINEMENT is strict" in refused.value.message


MIB = 1024 * 1024


@pytest.fixture
def hundred_mib() -> Iterator[Path]:
    try:
        with small_disk(100) as disk:
            yield disk.place
    except PermissionError as refusal:
        pytest.skip(str(refusal))


@pytest.mark.parametrize(("mib", "expected"), [(88, "ok"), (91, "warning"), (96, "warning"), (98, "failed")])
def test_the_fullest_disk_is_judged(hundred_mib: Path, settings: Any, mib: int, expected: str) -> None:
    settings.DATA_DIR = hundred_mib
    if max(used_shares().values()) > 0.87:
        pytest.skip("another disk of this machine is fuller")
    with (hundred_mib / "filler").open("wb") as file:
        for _ in range(mib):
            file.write(b"x" * MIB)
    outcome = disks()
    assert outcome.status == expected
    assert f"{mib}% full" in outcome.sentence and str(hundred_mib) in outcome.sentence


def test_a_folder_that_is_not_there_is_left_out(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path / "gone"
    assert set(used_shares()) == {"temporary"}


FILES = [fonts.FontFile(Path(name)) for name in fonts.SYSTEM_FONTS]


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> fonts.Library:
    return fonts.open_library(tmp_path_factory.mktemp("fonts"), system_folders=())


@pytest.mark.parametrize(
    ("lacks", "status", "says"),
    [
        ("", "ok", "Names are written in their own letters."),
        ("Tamil", "ok", "written in Latin ones: Tamil. Debian's fonts-noto-core has them."),
        ("CJK", "warning", "No font here has Chinese, Japanese and Korean letters"),
        (".", "warning", "Debian: fonts-noto-cjk), and start again. Missing as well: "),
    ],
)
def test_letters_that_no_font_has_are_named(
    bare: fonts.Library, monkeypatch: pytest.MonkeyPatch, lacks: str, status: str, says: str
) -> None:
    system = [file for file in FILES if not lacks or lacks not in file.path.name]
    monkeypatch.setattr(check, "library", lambda: dataclasses.replace(bare, system=system))
    outcome = check.fonts()
    assert outcome.status == status and says in outcome.sentence
    assert [each.logged for each in CHECKS if each.name == "fonts"] == [True]


@pytest.mark.parametrize(
    ("asked", "expected", "told"),
    [
        ("false, '', 'on', 1", "warning", "synchronous_standby_names is empty"),
        ("false, 'ANY 1 (a, b)', 'local', 1", "warning", "synchronous_commit is local"),
        ("false, 'ANY 1 (a, b)', 'on', 2", "ok", "Commits wait for a standby (ANY 1 (a, b)); 2 follow."),
        ("false, 'ANY 1 (a, b)', 'on', 0", "warning", "No standby follows the database, and commits wait for one."),
        ("false, '', 'on', 0", "ok", "No standby follows the database."),
        ("false, '', 'off', 0", "warning", "synchronous_commit is off"),
        ("true, '', 'on', 0", "failed", "DATABASE_URL leads to a standby"),
    ],
)
def test_whether_commits_wait_for_a_standby(
    asked: str, expected: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert database.replication().status in ("ok", "warning")  # of the tests' own database
    monkeypatch.setattr(database, "_ASKED", f"SELECT {asked}")
    outcome = database.replication()
    assert outcome.status == expected and told in outcome.sentence
    advises = "Set synchronous_standby_names and synchronous_commit = on" in outcome.sentence
    assert advises == ("synchronous_standby_names is empty" in told or "local" in told)


def status() -> str:
    return retention().status


@pytest.mark.parametrize(("hours", "expected"), [(23, "ok"), (25, "warning"), (8 * 24, "failed")])
def test_files_and_people_beyond_their_retention(hours: int, expected: str, made: Scene) -> None:
    set_retention(made.request.organization_id, "sandbox", 30, 60)
    SignatureRequest.objects.update(status="expired", expires_at=clock.now() - timedelta(days=30, hours=hours))
    late = longest_overdue(due.FILES)
    assert late and late[1:] == (made.request.organization_id, "sandbox")
    assert status() == expected
    assert figure("paraph_overdue_seconds", kind="files") == pytest.approx(hours * 3600, abs=60)
    assert figure("paraph_overdue_seconds", kind="people") == 0
    today = clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    ended = today - timedelta(days=60, hours=hours)
    SignatureRequest.objects.update(expires_at=ended, files_deleted_at=clock.now())
    assert status() == expected
    assert figure("paraph_overdue_seconds", kind="people") == hours * 3600
    assert figure("paraph_overdue_seconds", kind="timestamps") == 0
    assert expected == "ok" or retention().sentence.startswith("People are kept")


@pytest.mark.parametrize(("minutes", "expected"), [(50, "ok"), (70, "warning")])
def test_objects_that_the_store_does_not_delete(minutes: int, expected: str) -> None:
    ObjectToDelete.objects.create(object_key="sealed/1/x.pdf", since=clock.now() - timedelta(minutes=minutes))
    assert status() == expected
