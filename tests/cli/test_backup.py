"""A backup that is taken while the service works, and restored elsewhere; files that move to a bucket while people
sign, as docs/surroundings.md has it."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from paraph.postgres import embedded_url
from tests.cli.service import SMALL, Service, remove, small_service
from tests.operations.apart import Flows
from tests.scenarios.people import Backend, sign
from tests.storage.s3_server import s3_server, variables

pytestmark = pytest.mark.thorough

_FEW = {**SMALL, "PARAPH_RATE_LIMIT_FACTOR": "100"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("backups")
    yield folder
    for data_dir in folder.glob("*/postgres"):
        remove(data_dir.parent)


@pytest.fixture(scope="module")
def service(place: Path) -> Iterator[Service]:
    with small_service(place / "first", PARAPH_RATE_LIMIT_FACTOR="100") as service:
        yield service


@pytest.fixture(scope="module")
def backup(place: Path, service: Service) -> Path:
    """A backup that was taken while requests were signed and sealed, and uploads deleted."""
    Backend(service.base_url, service.key).finalized(flow(service))
    service.command("log", "show")  # makes the key of the log
    flows = Flows(lambda: flow(service), patience=180)
    flows.start()
    made = service.command("backup", "--out", str(place / "paraph.backup"))
    assert flows.end()
    assert made["problems"] == [] and made["objects"] >= 3
    return place / "paraph.backup"


def flow(service: Service) -> int:
    made = Backend(service.base_url, service.key).ask("a")
    assert sign(made["signers"][0]["signing_url"]).status_code == 200
    return int(made["id"])


def rows_and_objects(data_dir: Path) -> int:
    """Compare every row with its object, without any code of ours. Return how many there are."""
    count = 0
    with psycopg.connect(embedded_url(data_dir, None)) as connection:
        for table in ("documents_document", "evidence_sealeddocument", "evidence_prooffile"):
            for key, digest in connection.execute(f"SELECT object_key, sha256 FROM {table}"):
                assert hashlib.sha256((data_dir / "objects" / key).read_bytes()).digest() == digest, key
                count += 1
    return count


def test_a_backup_under_traffic_is_restored_whole(place: Path, service: Service, backup: Path) -> None:
    elsewhere = Service(place / "second", **_FEW)
    restored = elsewhere.command("restore", str(backup))
    assert restored["problems"] == []
    elsewhere.start()
    elsewhere.key = service.key
    try:
        assert rows_and_objects(elsewhere.data_dir) >= 3
        assert elsewhere.command("verify-store")["found"] == 0
        keys = {each.command("log", "show")["key"] for each in (service, elsewhere)}
        assert len(keys) == 1, "the log goes on under its own name and key"
        backend = Backend(elsewhere.base_url, service.key)
        listed = backend.call("GET", "signature_requests").json()
        assert listed, "the key and the requests are there"
        again = flow(elsewhere)
        assert again > 100_000, "no number that was given out after the backup is given out again"
        elsewhere.command("request", "retry", "--all")
        assert backend.finalized(again)["finalized"]
        assert {found["status"] for found in elsewhere.command("check")} == {"ok", "warning"}
        next((elsewhere.data_dir / "objects/documents").rglob("*.pdf")).unlink()
        for command in (["verify-store"], ["backup", "--out", str(place / "with-problems")]):
            assert elsewhere.run(*command).returncode == 1
    finally:
        elsewhere.stop()
    assert "The database is not empty" in elsewhere.refusal("restore", str(backup))


def test_what_is_not_empty_or_not_whole_is_refused_before_anything_is_written(
    place: Path, service: Service, backup: Path
) -> None:
    assert "Stop it first" in service.refusal("restore", str(backup))
    (place / "cut.backup").write_bytes(backup.read_bytes()[: backup.stat().st_size // 2])
    other = Service(place / "third", **_FEW)
    assert "cut.backup cannot be used" in other.refusal("restore", str(place / "cut.backup"))
    assert not other.data_dir.exists()
    words = other.refusal("restore", str(backup), PARAPH_SECRET_KEY="x" * 40)
    assert "The secret here is not that of the backup" in words
    (other.data_dir / "objects" / "documents").mkdir(parents=True)
    assert "objects is not empty" in other.refusal("restore", str(backup))
    assert not (other.data_dir / "secret.key").exists() and not (other.data_dir / "keys").exists()


BUCKET = "s3://bucket/paraph"


def test_files_move_under_load(tmp_path: Path) -> None:
    with s3_server() as address, small_service(tmp_path / "data", PARAPH_RATE_LIMIT_FACTOR="100") as service:
        there = variables(address)
        target = {f"TARGET_{name}": value for name, value in there.items()}
        backend = Backend(service.base_url, service.key)
        backend.finalized(flow(service))
        flows = Flows(lambda: flow(service), patience=180)
        flows.start()
        moved(service, target)
        moved(service, target)
        made = flows.end()
        assert made
        service.stop()
        moved(service, target)
        assert moved(service, target) == 0, "nothing comes to the folder any more"

        (service.data_dir / "objects").rename(tmp_path / "earlier")
        service.environment |= {**there, "PARAPH_STORAGE_URL": BUCKET}
        service.start()
        for number in made:
            assert backend.finalized(number)["finalized"]
        backend.finalized(flow(service))
        found = service.command("verify-store")
        assert found["found"] == 0 and found["objects"] >= 6
        assert not (service.data_dir / "objects").exists()


def moved(service: Service, target: dict[str, str]) -> int:
    """Copy the files to the bucket. Return how many were not there yet."""
    service.environment |= target
    found = service.command("storage", "copy", "folder", BUCKET)
    assert found["finished"] and (found["problems"], found["remain"]) == ([], 0)
    return int(found["copied"])
