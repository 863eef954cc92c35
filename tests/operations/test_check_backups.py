"""What ``paraph check`` and ``/metrics`` say of backups, and of what else an alert is raised for."""

from datetime import timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families

from paraph.evidence.models import Backup
from paraph.kernel import clock
from paraph.operations import exposition
from paraph.operations.check.backlog import backup
from paraph.operations.check.service_checks import ReadinessCache
from paraph.webhooks.models import Delivery
from tests.factories import sign
from tests.webhooks.parties import told

pytestmark = pytest.mark.django_db


def outcome() -> tuple[str, str]:
    [found] = backup()
    return found.status, found.sentence


def figure(name: str) -> float | None:
    families = text_string_to_metric_families(exposition.exposition().decode())
    return next((sample.value for family in families for sample in family.samples if sample.name == name), None)


@pytest.mark.parametrize(("days", "expected"), [(7, "ok"), (9, "warning")])
def test_the_age_of_the_newest_sound_backup_counts(days: int, expected: str) -> None:
    assert outcome()[0] == "ok" and figure("paraph_backup_seconds") is None
    then = clock.now() - timedelta(days=days)
    for as_of, problems in ((then, 0), (then - timedelta(days=1), 0), (clock.now(), 1)):
        Backup.objects.create(as_of=as_of, problems=problems)
    assert outcome()[0] == expected and clock.iso(then) in outcome()[1]
    assert figure("paraph_backup_seconds") == pytest.approx(then.timestamp(), abs=0.001)


def test_a_webhook_that_is_late_has_its_age_told() -> None:
    assert figure("paraph_webhook_age_seconds") == 0
    made, _secret = told()
    sign(made)
    Delivery.objects.update(status="waiting", due_at=clock.now() - timedelta(minutes=20))
    assert figure("paraph_webhook_age_seconds") == pytest.approx(1200, abs=60)


def test_files_without_their_timestamp_are_told() -> None:
    assert figure("paraph_timestamps_overdue") == 0


def test_lines_of_the_check_are_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ReadinessCache()
    parts = {"database": "ok", "timestamp https://tsa.example.com": "warning", "mail": "failed"}
    monkeypatch.setattr(cache, "readiness", lambda: type("Found", (), {"parts": parts}))
    monkeypatch.setattr(exposition, "READINESS", cache)
    families = text_string_to_metric_families(exposition.exposition().decode())
    [found] = [family for family in families if family.name == "paraph_check"]
    assert {sample.labels["line"]: sample.value for sample in found.samples} == {
        "database": 0,
        "timestamp https://tsa.example.com": 1,
        "mail": 2,
    }
