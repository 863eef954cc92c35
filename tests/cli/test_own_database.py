"""A PostgreSQL of the operator's own: restored to a moment by the recipe of docs/operating.md, reached by TLS, shared
with others, moved to the embedded one and back."""

import json
import re
import subprocess
import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.own_postgresql import OwnPostgresql
from tests.cli.service import Service, remove, wait_until
from tests.independent import need

pytestmark = pytest.mark.thorough


PAGE = (Path(__file__).parents[2] / "docs" / "operating.md").read_text()
SECRET = "s" * 40


def recipe(own: OwnPostgresql) -> list[str]:
    """The indented blocks of the section “Back to a moment”, with the folders of this server: settings, base backup,
    settings of the recovery, commands."""
    section = PAGE.split("### Back to a moment")[1].split("\n## ")[0].split("\n### ")[0]
    blocks = re.findall(r"(?:^    .*\n)+", section, re.MULTILINE)
    text = "\0".join(map(textwrap.dedent, blocks))
    for name, folder in (("archive", own.archive), ("base", own.folder / "base"), ("data", own.data)):
        text = text.replace(f"/var/lib/postgresql/{name}", str(folder))
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
    wait_until((own.archive / own.ask("SELECT pg_walfile_name(pg_switch_wal())")).exists)
    own.stop()

    own.run(commands)
    configure(own, recovery.replace("2026-01-31 12:00:00+00", moment.isoformat(" ")))
    own.start()
    wait_until(lambda: own.ask("SELECT pg_is_in_recovery()") == "False")
    assert [each["name"] for each in service.command("organization", "list")] == ["Before"]
    service.command("organization", "create", "After", "--plan", "pro")


def configure(own: OwnPostgresql, lines: str) -> None:
    with (own.data / "postgresql.conf").open("a") as file:
        file.write(lines)


@pytest.fixture
def address() -> str:
    """An address of this machine other than loopback: PostgreSQL takes its clients for clients over a network."""
    said = subprocess.run([need("ip", "iproute2"), "-json", "-4", "address"], check=True, capture_output=True).stdout
    found = [each["local"] for link in json.loads(said) for each in link["addr_info"] if each["scope"] == "global"]
    if not found:
        pytest.skip("this machine has no address but its own loopback")
    return str(found[0])


@pytest.fixture
def remote(address: str) -> Iterator[OwnPostgresql]:
    server = OwnPostgresql(address)
    server.create()
    yield server
    server.remove()


def test_a_database_elsewhere_without_tls_is_told(remote: OwnPostgresql, address: str, tmp_path: Path) -> None:
    def outcome(url: str) -> tuple[str, str]:
        service = Service(tmp_path / "data", DATABASE_URL=url, PARAPH_SECRET_KEY=SECRET)
        [found] = service.command("check", "--only", "database tls")
        return found["status"], found["sentence"]

    assert outcome(remote.url.replace(address, str(remote.folder))) == ("ok", "The database is on this machine.")
    status, sentence = outcome(remote.url)
    assert status == "warning" and "another machine, and reached without TLS" in sentence

    key, certificate = remote.data / "server.key", remote.data / "server.crt"
    names = f"-subj /CN=db -addext subjectAltName=IP:{address}"
    remote.run(f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 {names} -keyout {key} -out {certificate}")
    remote.ask("ALTER SYSTEM SET ssl = on")
    remote.run(f"{remote.programs}/pg_ctl -D {remote.data} reload")
    assert outcome(f"{remote.url}&sslmode=disable")[0] == "warning"
    status, sentence = outcome(remote.url)
    assert status == "ok" and "nobody checks whose certificate it has (sslmode=prefer)" in sentence
    root = tmp_path / "root.crt"
    root.write_bytes(certificate.read_bytes())
    trusting = f"{remote.url}&sslmode=verify-full&sslrootcert={root}"
    assert outcome(trusting) == ("ok", "The database is reached by TLS.")

    remote.run(f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 {names} -keyout {key} -out {certificate}")
    remote.run(f"{remote.programs}/pg_ctl -D {remote.data} reload")
    done = Service(tmp_path / "data", DATABASE_URL=trusting, PARAPH_SECRET_KEY=SECRET).run("organization", "list")
    assert done.returncode == 1 and "certificate verify failed" in done.stderr and "Traceback" not in done.stderr


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


def test_a_shared_database_is_restored_by_an_ordinary_role_or_moves_to_an_embedded_server_and_back(
    own: OwnPostgresql, tmp_path: Path
) -> None:
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
    back, file = ["import", str(tmp_path / "back.export")], str(tmp_path / "paraph.export")
    embedded = Service(tmp_path / "embedded", PARAPH_SECRET_KEY=SECRET)
    assert embedded.command("import", file) == {"imported": True, "applied": 0}
    embedded.command("export", "--out", back[1])
    assert "belongs to another secret" in imported.refusal(*back, PARAPH_SECRET_KEY="x" * 40)
    assert imported.command(*back) == {"imported": True, "applied": 0}
    assert "The database is not empty" in imported.refusal(*back)
    for each in (restored, imported, embedded):
        assert [found["name"] for found in each.command("organization", "list")] == ["Acmé"]
        [told] = each.command("check", "--only", "backup")
        assert told["status"] == "ok", "what was restored has a backup: the file"
    remove(embedded.data_dir)


def elsewhere(own: OwnPostgresql, folder: Path, name: str) -> Service:
    """A service with a new database, which has an extension already and whose owner may do nothing outside it."""
    own.ask(f"CREATE DATABASE {name} OWNER signing")
    url = f"postgresql://signing@/{name}?host={own.folder}"
    own.run(f'{own.programs}/psql -q -h {own.folder} -U paraph -d {name} -c "CREATE EXTENSION pg_stat_statements"')
    return Service(folder / name, DATABASE_URL=url, PARAPH_SECRET_KEY=SECRET)


COMMANDS = """
    organization list, organization create Acmé --plan pro, application list, key list, member list --organization 1,
    retention apply, person show ada@example.com, usage --month 2026-11, inbox, webhook list, request list,
    request retry --all, verify-store, secret status, migrate, web, worker, serve,
    backup --out {out}, export --out {out}
"""


def test_a_permission_that_the_role_lacks_is_one_sentence(own: OwnPostgresql, tmp_path: Path) -> None:
    own.ask("CREATE ROLE signing LOGIN")
    admin = Service(tmp_path / "data", DATABASE_URL=own.url, PARAPH_SECRET_KEY=SECRET)
    admin.command("migrate")
    service = Service(tmp_path / "data", DATABASE_URL=own.url.replace("paraph@", "signing@"), PARAPH_SECRET_KEY=SECRET)
    for command in COMMANDS.format(out=tmp_path / "copy").split(","):
        done = service.run(*command.split())
        assert done.returncode == 1 and "Traceback" not in done.stdout + done.stderr, (command, done)
        assert "The database refuses: permission denied for table " in done.stderr, (command, done)
    done = service.run("check", "--json")
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    refused = [each for each in json.loads(done.stdout) if "permission denied for table" in each["sentence"]]
    assert refused and {each["status"] for each in refused} == {"failed"}
