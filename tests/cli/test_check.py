"""``paraph check``, and the starts that it guards."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.db import connection

from paraph.postgres.cluster import embedded_url
from paraph.tenants.models import Installation
from tests.cli.service import Service, free_port, paraph, small_service
from tests.keys.certified_keys import make_key, make_root


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service in which nothing has failed yet."""
    with small_service(tmp_path_factory.mktemp("checked") / "data") as service:
        yield service


def test_a_running_service_is_sound(service: Service) -> None:
    found = {outcome["name"]: outcome for outcome in service.command("check")}  # raises unless it ends with 0
    found.pop("confinement")  # depends on the kernel (tests/attacks/test_sandbox_escape.py)
    found.pop("fonts")  # depends on the machine, too (tests/operations/test_check_lines.py)
    found.pop("second renderer")  # depends on whether poppler is installed
    found.pop("disk")  # depends on the machine (tests/operations/test_check_lines.py)
    assert {name for name, outcome in found.items() if outcome["status"] == "ok"} == {
        "database", "database tls", "sessions", "connections", "replication", "secret key", "clock", "storage",
        "storage key", "space", "sandbox sealing", "typesetting", "workers", "queue", "webhooks", "sealing failures",
        "kept timestamps", "transparency log", "retention", "backup", "proxy",
    }  # fmt: skip
    assert {outcome["status"] for outcome in found.values()} == {"ok", "warning"}
    assert httpx.get(f"{service.base_url}/readyz", timeout=20).json()["ready"] is True


def test_what_is_broken_is_named_and_the_command_ends_with_1(tmp_path: Path) -> None:
    database = "postgresql://nobody@127.0.0.1:1/none"
    broken = {"DATABASE_URL": database, "PARAPH_SEALING_KEY": str(tmp_path / "gone.pem")}
    done, as_json = (paraph("check", *options, data_dir=tmp_path, **broken) for options in ([], ["--json"]))
    assert (done.returncode, as_json.returncode) == (1, 1)
    found = {each["name"]: each for each in json.loads(as_json.stdout)}
    assert [found[name]["status"] for name in ("database", "sealing", "storage")] == ["failed", "failed", "ok"]
    sealing = f"failed   sealing: {found['sealing']['sentence']}"
    assert "gone.pem" in sealing and sealing in done.stdout.splitlines()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("command", "key"),
    [
        pytest.param("serve", "/nowhere/gone.pem", marks=pytest.mark.thorough),
        ("worker", "pkcs11:object=seal?module-path=/nowhere/gone.pem"),
        pytest.param("web", "/nowhere/gone.pem", marks=pytest.mark.thorough),
        pytest.param("worker", "/nowhere/gone.pem", marks=pytest.mark.thorough),
        pytest.param("worker", "awskms:alias/gone.pem", marks=pytest.mark.thorough),
    ],
)
def test_no_start_without_the_sealing_key(command: str, key: str, tmp_path: Path, settings: Any) -> None:
    """The command uses the tests' own database, which has its tables and belongs to no other secret."""
    Installation.objects.all().delete()
    url = settings.PARAPH.database_url or embedded_url(settings.DATA_DIR, settings.PARAPH.postgres_dir)
    before, _, options = url.partition("?")
    database = f"{before.rpartition('/')[0]}/{connection.settings_dict['NAME']}?{options}"
    chain = make_root().chain(tmp_path, make_key("p-256").public_key())
    sealing = {"PARAPH_SEALING_KEY": key, "PARAPH_SEALING_CERTIFICATE": str(chain)}
    aws = {"AWS_REGION": "eu-central-1", "AWS_EC2_METADATA_DISABLED": "true", "HOME": str(tmp_path)}
    port = str(free_port())
    done = paraph(command, data_dir=tmp_path / "data", DATABASE_URL=database, PARAPH_PORT=port, **sealing, **aws)
    assert done.returncode == 1
    start, *told = done.stderr.splitlines()
    assert "Paraph starts" in start
    assert len(told) == 1 and "gone.pem" in told[0], done.stderr
