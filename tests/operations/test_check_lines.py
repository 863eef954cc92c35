"""What ``paraph check`` and ``/metrics`` say of backups, retention, standbys, disks, fonts, readers and the proxy."""

import dataclasses
import socket
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
from paraph.operations.check import backlog, database, surroundings
from paraph.operations.check import machine as check
from paraph.operations.check.backlog import backup, retention
from paraph.operations.check.machine import confinement, disks, used_shares
from paraph.operations.check.outcome import Outcome, Status
from paraph.operations.check.service_checks import CHECKS, KeptOutcomes, ServiceCheck, require_start
from paraph.operations.check.surroundings import proxy
from paraph.operations.pending_work import longest_overdue
from paraph.pdf.typesetting import fonts
from paraph.server.middleware import PROBE
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import Organization
from paraph.webhooks.models import Delivery
from tests import loopback
from tests.factories import Scene, scene, sign
from tests.small_disk import SmallDisk, small_disk
from tests.tenancy import set_retention
from tests.webhooks.parties import told

pytestmark = pytest.mark.django_db


def figure(name: str, **labels: str) -> float | None:
    families = text_string_to_metric_families(exposition.exposition().decode())
    samples = (sample for family in families for sample in family.samples if sample.name == name)
    return next((sample.value for sample in samples if labels.items() <= sample.labels.items()), None)


def begin(ago: timedelta) -> datetime:
    """Put the service in use this long ago. Return that moment."""
    then = clock.now() - ago
    Organization.objects.create(name="Acmé", plan="free", created_at=then)
    return then


@pytest.mark.parametrize(("days", "expected"), [(7, "ok"), (9, "warning")])
def test_the_age_of_the_newest_sound_backup_counts(days: int, expected: str) -> None:
    begin(timedelta(days=30))
    then = clock.now() - timedelta(days=days)
    for as_of, problems in ((then, 0), (then - timedelta(days=1), 0), (clock.now(), 1)):
        Backup.objects.create(as_of=as_of, problems=problems)
    assert backup().status == expected and clock.iso(then) in backup().sentence
    assert figure("paraph_backup_seconds") == pytest.approx(then.timestamp(), abs=0.001)


def test_before_the_first_backup_a_day_passes_in_silence() -> None:
    assert backup().sentence == "None was made yet." and figure("paraph_backup_seconds") is None
    began = begin(timedelta(hours=23))
    assert (backup().status, backup().sentence) == ("ok", "None was made yet.")
    told = figure("paraph_backup_seconds")  # the alert counts from here, and fires two days later
    assert told == pytest.approx(began.timestamp(), abs=0.001)
    Organization.objects.update(created_at=clock.now() - timedelta(hours=25))
    assert backup().status == "warning" and "None was made yet: run paraph backup" in backup().sentence
    Backup.objects.create(as_of=clock.now(), problems=1)
    assert backup().status == "warning", "one with problems is none"


def test_a_database_that_archives_is_backed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    begin(timedelta(days=30))
    monkeypatch.setattr(backlog, "_ARCHIVED", "SELECT now() - interval '7 days'")
    assert backup().status == "ok" and backup().sentence.startswith("PostgreSQL archives what it writes")
    monkeypatch.setattr(backlog, "_ARCHIVED", "SELECT now() - interval '9 days'")
    assert backup().status == "warning"


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
    assert [figure("paraph_check", line=name) for name in parts] == [0, 1, 2]


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
    configured: Any, monkeypatch: pytest.MonkeyPatch, missing: dict[str, str], best: str, strict: str
) -> None:
    monkeypatch.setattr(check, "sandbox_confinement", lambda: Confinement(missing))
    assert confinement().status == best
    configured(confinement="strict")
    assert confinement().status == strict
    if strict == "failed":
        with pytest.raises(DomainError, match="PARAPH_CONFINEMENT is strict"):
            require_start()


@pytest.fixture
def hundred_mib() -> Iterator[SmallDisk]:
    try:
        with small_disk(100) as disk:
            yield disk
    except PermissionError as refusal:
        pytest.skip(str(refusal))


def test_the_fullest_disk_is_judged(hundred_mib: SmallDisk, settings: Any) -> None:
    settings.DATA_DIR = hundred_mib.place
    if max(used_shares().values()) > 0.87:
        pytest.skip("another disk of this machine is fuller")
    for mib, expected in ((88, "ok"), (91, "warning"), (96, "warning"), (98, "failed")):
        hundred_mib.fill(leave=(100 - mib) << 20)
        outcome = disks()
        assert outcome.status == expected
        assert f"{mib}% full" in outcome.sentence and str(hundred_mib.place) in outcome.sentence


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


@pytest.mark.parametrize(("hours", "expected"), [(23, "ok"), (25, "warning"), (8 * 24, "failed")])
def test_files_and_people_beyond_their_retention(hours: int, expected: str, made: Scene) -> None:
    set_retention(made.request.organization_id, "sandbox", 30, 60)
    SignatureRequest.objects.update(status="expired", expires_at=clock.now() - timedelta(days=30, hours=hours))
    late = longest_overdue(due.FILES)
    assert late and late[1:] == (made.request.organization_id, "sandbox")
    assert retention().status == expected
    assert figure("paraph_overdue_seconds", kind="files") == pytest.approx(hours * 3600, abs=60)
    assert figure("paraph_overdue_seconds", kind="people") == 0
    today = clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    ended = today - timedelta(days=60, hours=hours)
    SignatureRequest.objects.update(expires_at=ended, files_deleted_at=clock.now())
    assert retention().status == expected
    assert figure("paraph_overdue_seconds", kind="people") == hours * 3600
    assert figure("paraph_overdue_seconds", kind="timestamps") == 0
    assert expected == "ok" or retention().sentence.startswith("People are kept")


@pytest.mark.parametrize(("minutes", "expected"), [(50, "ok"), (70, "warning")])
def test_objects_that_the_store_does_not_delete(minutes: int, expected: str) -> None:
    ObjectToDelete.objects.create(object_key="sealed/1/x.pdf", since=clock.now() - timedelta(minutes=minutes))
    assert retention().status == expected


@pytest.fixture
def proxy_with(configured: Any) -> Any:
    """Return the status and sentence of the line ``proxy`` with these settings."""

    def look(**fields: Any) -> tuple[str, str]:
        configured(**fields)
        outcome = proxy()
        return outcome.status.value, outcome.sentence

    return look


class Front(loopback.Handler):
    """A proxy and the service behind it. ``passes``: whether a probe arrives; ``refuses``: whether it is refused."""

    passes = True
    refuses = False

    def do_GET(self) -> None:
        probed = PROBE in self.headers
        ours = probed and self.passes
        self.send_response(400 if ours or (probed and self.refuses) else 200)
        self.end_headers()
        self.wfile.write(b'{"error": {"code": "bad_request", "message": "No."}}' if ours else b"ok")


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have ``127.0.0.1.nip`` resolve to 127.0.0.1: a name that does not look local, yet leads to this machine."""
    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *more, **named: real(str(host).removesuffix(".nip"), *more, **named)
    )


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"base_url": "", "host": "127.0.0.1"}, "ok"),
        ({"base_url": "https://sign.example.com"}, "failed"),
        ({"base_url": "http://203.0.113.9"}, "warning"),
        ({"host": "0.0.0.0"}, "warning"),
    ],
)
def test_a_public_address_wants_a_proxy_and_a_local_one_none(
    proxy_with: Any, fields: dict[str, str], status: str
) -> None:
    found, sentence = proxy_with(**fields)
    assert found == status and ("PARAPH_TRUSTED_PROXIES" in sentence) == (status != "ok")


@pytest.mark.parametrize("host", ["8.8.8.8", "0.0.0.0"])
def test_a_service_that_can_be_reached_around_its_proxy(
    proxy_with: Any, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setattr(surroundings, "_own_address", lambda *_: ["8.8.8.8"])
    status, sentence = proxy_with(base_url="https://sign.example.com", host=host, trusted_proxies=["10.0.0.0/8"])
    assert status == "warning" and "8.8.8.8" in sentence


@pytest.mark.parametrize(
    ("passes", "refuses", "status"), [(True, False, "failed"), (False, False, "ok"), (False, True, "ok")]
)
@pytest.mark.usefixtures("names")
def test_underscores_are_looked_for_where_the_proxy_is_reached(
    proxy_with: Any, passes: bool, refuses: bool, status: str
) -> None:
    with loopback.served(type("Front", (Front,), {"passes": passes, "refuses": refuses})) as front:
        fields = {"base_url": f"http://127.0.0.1.nip:{front.server_port}", "trusted_proxies": ["127.0.0.1/32"]}
        assert proxy_with(**fields)[0] == status
    away, sentence = proxy_with(**fields)
    assert away == "warning" and "cannot be reached" in sentence
