"""A database that a provider and others have put things into is backed up, and restored where less is allowed."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.own_postgresql import OwnPostgresql
from tests.cli.service import Service, remove

pytestmark = pytest.mark.thorough

SECRET = "s" * 40
_OF_OTHERS = """
    CREATE EXTENSION pg_stat_statements; CREATE EXTENSION pg_trgm; CREATE EXTENSION hstore;
    COMMENT ON EXTENSION pg_trgm IS 'of the provider';
    CREATE SCHEMA cron; CREATE TABLE cron.job (id serial PRIMARY KEY, told hstore);
    CREATE ROLE analyst; CREATE TABLE reports (id int, told hstore); ALTER TABLE reports OWNER TO analyst;
    CREATE VIEW requests_by_day AS SELECT count(*) FROM signature_requests_signaturerequest;
    CREATE INDEX found_by_words ON organizations_organization USING gin (name gin_trgm_ops);
    CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER audited AFTER INSERT ON documents_document FOR EACH ROW EXECUTE FUNCTION noted();
    CREATE PUBLICATION everything FOR ALL TABLES;
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO analyst;
    ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO analyst;
"""


def test_a_backup_of_a_shared_database_is_restored_by_an_ordinary_role(own: OwnPostgresql, tmp_path: Path) -> None:
    service = Service(tmp_path / "first", DATABASE_URL=own.url, PARAPH_SECRET_KEY=SECRET)
    told = service.run("organization", "list")
    assert told.returncode == 1 and told.stderr.startswith("The database lacks what this version needs"), told
    service.commands([["migrate"], ["organization", "create", "Acmé", "--plan", "pro"]])
    own.ask(_OF_OTHERS)
    made = service.command("backup", "--tried", "--out", str(tmp_path / "paraph.backup"))
    assert made["problems"] == [] and made["tried"] and made["rows"] > 10
    exported = service.command("export", "--out", str(tmp_path / "paraph.export"))
    assert exported["rows"] >= made["rows"], "and the note of the backup"

    own.ask("CREATE ROLE signing LOGIN")
    restored, imported = (elsewhere(own, tmp_path, name) for name in ("restored", "imported"))
    assert restored.command("restore", str(tmp_path / "paraph.backup"))["problems"] == []
    assert imported.command("import", str(tmp_path / "paraph.export"))["imported"]
    embedded = Service(tmp_path / "embedded", PARAPH_SECRET_KEY=SECRET)
    assert embedded.command("restore", str(tmp_path / "paraph.backup"))["problems"] == []
    for each in (restored, imported, embedded):
        assert [found["name"] for found in each.command("organization", "list")] == ["Acmé"]
        [told] = each.command("check", "--only", "backup")
        assert told["status"] == "ok", "what was restored has a backup: the file"
    remove(embedded.data_dir)


def elsewhere(own: OwnPostgresql, folder: Path, name: str) -> Service:
    """A new database of a role that may do nothing beyond it, which has an extension already."""
    own.ask(f"CREATE DATABASE {name} OWNER signing")
    url = f"postgresql://signing@/{name}?host={own.folder}"
    own.run(f'{own.programs}/psql -q -h {own.folder} -U paraph -d {name} -c "CREATE EXTENSION pg_stat_statements"')
    return Service(folder / name, DATABASE_URL=url, PARAPH_SECRET_KEY=SECRET)


COMMANDS: list[list[str]] = [
    ["organization", "list"],
    ["organization", "create", "Acmé", "--plan", "pro"],
    ["application", "list"],
    ["key", "list"],
    ["member", "list", "--organization", "1"],
    ["retention", "apply"],
    ["person", "show", "ada@example.com"],
    ["usage", "--month", "2026-11"],
    ["inbox"],
    ["webhook", "list"],
    ["request", "list"],
    ["request", "retry", "--all"],
    ["verify-store"],
    ["secret", "status"],
    ["migrate"],
    ["web"],
    ["worker"],
    ["serve"],
]


def test_a_permission_that_the_role_lacks_is_one_sentence(own: OwnPostgresql, tmp_path: Path) -> None:
    own.ask("CREATE ROLE signing LOGIN")
    admin = Service(tmp_path / "data", DATABASE_URL=own.url, PARAPH_SECRET_KEY=SECRET)
    admin.command("migrate")
    service = Service(tmp_path / "data", DATABASE_URL=own.url.replace("paraph@", "signing@"), PARAPH_SECRET_KEY=SECRET)
    out = ["--out", str(tmp_path / "copy")]
    wanted = "The database refuses: permission denied for table "
    told = {tuple(command): service.run(*command) for command in [*COMMANDS, ["backup", *out], ["export", *out]]}
    others = {
        command: (done.returncode, done.stdout, done.stderr)
        for command, done in told.items()
        if done.returncode != 1 or wanted not in done.stderr or "Traceback" in done.stdout + done.stderr
    }
    assert others == {}, "\n".join(f"{command}: {told}" for command, told in others.items())
    done = service.run("check", "--json")
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    sentences: list[dict[str, Any]] = json.loads(done.stdout)
    refused = [each for each in sentences if "permission denied for table" in each["sentence"]]
    assert refused and {each["status"] for each in refused} == {"failed"}
