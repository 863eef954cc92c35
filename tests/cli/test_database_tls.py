"""Whether the way to a database on another machine is encrypted, and whom it trusts."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.own_postgresql import OwnPostgresql
from tests.cli.service import Service
from tests.independent import need

pytestmark = pytest.mark.thorough


@pytest.fixture
def address() -> str:
    """One of this machine's that is not its loopback's: to PostgreSQL, who comes from there comes over a network."""
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
        service = Service(tmp_path / "data", DATABASE_URL=url, PARAPH_SECRET_KEY="s" * 40)
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
    done = Service(tmp_path / "data", DATABASE_URL=trusting, PARAPH_SECRET_KEY="s" * 40).run("organization", "list")
    assert done.returncode == 1 and "certificate verify failed" in done.stderr and "Traceback" not in done.stderr
