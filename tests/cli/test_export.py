"""From the embedded database to a server of one's own, and back."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import first_start
from tests.cli.own_postgresql import OwnPostgresql
from tests.cli.service import Service, remove

pytestmark = pytest.mark.thorough


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Service]:
    service = Service(tmp_path / "data")
    first_start.copy(service.data_dir)
    yield service
    remove(service.data_dir)


def test_a_database_moves_to_an_own_server_and_back(own: OwnPostgresql, embedded: Service, tmp_path: Path) -> None:
    there, back = tmp_path / "there.export", tmp_path / "back.export"
    embedded.commands([["organization", "create", "Acmé", "--plan", "pro"], ["export", "--out", str(there)]])
    moved = Service(embedded.data_dir, DATABASE_URL=own.url)
    assert "belongs to another secret" in moved.refusal("import", str(there), PARAPH_SECRET_KEY="x" * 40)
    assert moved.command("import", str(there)) == {"imported": True, "applied": 0}
    assert [each["name"] for each in moved.command("organization", "list")] == ["First organization", "Acmé"]
    assert "The database is not empty" in moved.refusal("import", str(there))

    moved.commands([["organization", "create", "Later", "--plan", "pro"], ["export", "--out", str(back)]])
    (embedded.data_dir / "postgres").rename(embedded.data_dir / "postgres.before")
    assert embedded.command("import", str(back)) == {"imported": True, "applied": 0}
    assert [each["name"] for each in embedded.command("organization", "list")] == [
        "First organization",
        "Acmé",
        "Later",
    ]
    shutil.rmtree((embedded.data_dir / "postgres.before").resolve())


def test_an_import_that_fails_leaves_the_database_empty(own: OwnPostgresql, embedded: Service, tmp_path: Path) -> None:
    """A role of the server that may not make triggers' functions in the end: nothing of what went before stays."""
    there = tmp_path / "there.export"
    embedded.command("export", "--out", str(there))
    psql = f"{own.programs}/psql -h {own.folder} -U paraph -d paraph -c"
    own.run(f"""{psql} "CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS
        'BEGIN RAISE EXCEPTION ''no more indexes''; END'" """)
    own.run(f"""{psql} "CREATE EVENT TRIGGER refuse ON ddl_command_end WHEN TAG IN ('CREATE INDEX')
        EXECUTE FUNCTION refuse()" """)
    moved = Service(embedded.data_dir, DATABASE_URL=own.url)
    assert "psql failed" in moved.refusal("import", str(there))
    own.run(f'{psql} "DROP EVENT TRIGGER refuse"')
    own.run(f'{psql} "DROP FUNCTION refuse"')
    assert moved.command("import", str(there))["imported"]
