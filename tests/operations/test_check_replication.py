"""What ``paraph check`` says of standbys that no commit waits for."""

import pytest
from django.db import connection

from paraph.operations.check import database

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("names", "commit", "cause"),
    [("", "on", "synchronous_standby_names is empty"), ("ANY 1 (a, b)", "local", "synchronous_commit is local")],
)
def test_an_asynchronous_standby_is_a_warning_with_a_remedy(
    names: str, commit: str, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_ASKED", f"SELECT false, '{names}', '{commit}', 1")
    [outcome] = database.replication()
    assert (outcome.name, outcome.status) == ("replication", "warning")
    assert cause in outcome.sentence
    assert "Set synchronous_standby_names and synchronous_commit = on" in outcome.sentence


def test_standbys_that_commits_wait_for_are_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_ASKED", "SELECT false, 'ANY 1 (a, b)', 'on', 2")
    [outcome] = database.replication()
    assert (outcome.name, outcome.status) == ("replication", "ok")


def test_a_database_without_a_standby_is_well() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = on")  # that of the tests has no time for disks
    assert [(outcome.name, outcome.status) for outcome in database.replication()] == [("replication", "ok")]


def test_commits_that_wait_for_nothing_are_told() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = off")
    [outcome] = database.replication()
    assert outcome.status == "warning" and "synchronous_commit is off" in outcome.sentence
