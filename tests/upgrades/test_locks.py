"""A migration locks one table at a time: whoever holds one and waits for another is waited for, in a circle."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.service import clean_environment
from tests.operations.apart import Database

EARLIER = {
    "documents.0001_initial",
    "drafts.0001_initial",
    "evidence.0001_initial",
    "evidence.0002_kept_timestamps",
    "evidence.0003_timestamp_attempts",
    "evidence.0005_storage",
    "journal.0001_initial",
    "procrastinate.0024_job_id_bigint",
    "request_templates.0001_initial",
    "signature_requests.0001_initial",
    "signature_requests.0012_sent_by",
    "signature_requests.0018_search_terms",
    "webhooks.0001_initial",
}
"""Those that lock several, from before the first version was published, and of libraries: no service is upgraded over
them. No later one of ours may stand here."""


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    folder = tmp_path_factory.mktemp("locks")
    database = Database(folder / "database")
    try:
        settings = {"DATABASE_URL": database.url, "DJANGO_SETTINGS_MODULE": "paraph.config.settings"}
        environment = clean_environment(folder / "data", **settings)
        done = subprocess.run(
            [sys.executable, "-m", "tests.upgrades.locks"],
            env=environment,
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        database.remove()
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def test_no_migration_locks_two_tables_that_are_in_use(locked: dict[str, list[str]]) -> None:
    several = {name: tables for name, tables in locked.items() if len(tables) > 1}
    assert {name: tables for name, tables in several.items() if name not in EARLIER} == {}


def test_locks_are_seen_at_all(locked: dict[str, list[str]]) -> None:
    assert locked["signature_requests.0018_search_terms"] == [
        "signature_requests_requestdocument",
        "signature_requests_signer",
    ]
    assert locked["organizations.0012_administration"] == ["organizations_organization"]
    assert locked["webhooks.0007_next_webhook_secret"] == ["organizations_application"]
