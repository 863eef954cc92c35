"""The recipe of docs/operating.md for going back to a moment, followed on a PostgreSQL of the test."""

import re
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from tests.cli.own_postgresql import OwnPostgresql
from tests.cli.service import Service, wait_until

pytestmark = pytest.mark.thorough

PAGE = (Path(__file__).parents[2] / "docs" / "operating.md").read_text()
SECRET = "s" * 40


def recipe(own: OwnPostgresql) -> list[str]:
    """The indented blocks of the section, for the folders of this server: settings, base backup, settings of the
    recovery, commands."""
    section = PAGE.split("### Back to a moment")[1].split("\n## ")[0].split("\n### ")[0]
    blocks = re.findall(r"(?:^    .*\n)+", section, re.MULTILINE)
    text = "\0".join(re.sub("^    ", "", block, flags=re.MULTILINE) for block in blocks)
    text = text.replace("/var/lib/postgresql/archive", str(own.archive)).replace(
        "/var/lib/postgresql/base", str(own.folder / "base")
    )
    text = text.replace("/var/lib/postgresql/data", str(own.data))
    return text.replace("pg_basebackup", f"{own.programs}/pg_basebackup -h {own.folder} -U paraph").split("\0")


def test_the_recipe_goes_back_to_a_moment(own: OwnPostgresql, tmp_path: Path) -> None:
    archiving, base_backup, recovery, commands = recipe(own)
    own.stop()
    configure(own, archiving)
    own.start()
    service = Service(tmp_path / "data", DATABASE_URL=own.url, PARAPH_SECRET_KEY=SECRET)
    service.command("migrate")
    own.run(base_backup)
    service.command("organization", "create", "Before", "--plan", "pro")
    moment = datetime.now(UTC)
    service.command("organization", "create", "By mistake", "--plan", "pro")
    archive_all(own)
    own.stop()

    own.run(commands)
    configure(own, recovery.replace("2026-01-31 12:00:00+00", moment.isoformat(" ")))
    own.start()
    wait_until(lambda: not in_recovery(own))
    assert [each["name"] for each in service.command("organization", "list")] == ["Before"]
    service.command("organization", "create", "After", "--plan", "pro")


def configure(own: OwnPostgresql, lines: str) -> None:
    with (own.data / "postgresql.conf").open("a") as file:
        file.write(lines)


def archive_all(own: OwnPostgresql) -> None:
    """Waits until what was written last is in the archive."""
    with psycopg.connect(own.url, autocommit=True) as connection:
        [last] = connection.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchone() or [""]
    wait_until((own.archive / str(last)).exists)


def in_recovery(own: OwnPostgresql) -> bool:
    with psycopg.connect(own.url) as connection:
        return bool((connection.execute("SELECT pg_is_in_recovery()").fetchone() or [True])[0])
