"""``paraph check``, and the starts that it guards."""

import json
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.db import connection

from paraph.organizations.models import Installation
from paraph.postgres.location import embedded_url
from tests.cli import forked
from tests.cli.service import Service, clean_environment, free_port
from tests.keys.certified_keys import make_key, make_root


def run(command: str, data_dir: Path, *options: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    return forked.run("paraph", command, *options, environment=clean_environment(data_dir, **settings))


def test_a_running_service_is_sound(service: Service) -> None:
    found = {outcome["name"]: outcome for outcome in service.command("check")}  # raises unless it ends with 0
    found.pop("confinement")  # depends on the kernel (tests/attacks/test_sandbox_escape.py)
    found.pop("disk")  # depends on the machine (tests/operations/test_check_disks.py)
    assert {name for name, outcome in found.items() if outcome["status"] == "ok"} == {
        "database",
        "sessions",
        "secret key",
        "clock",
        "storage",
        "storage key",
        "space",
        "sandbox sealing",
        "workers",
        "queue",
        "webhooks",
        "sealing failures",
        "kept timestamps",
        "retention",
        "proxy",
    }
    assert {outcome["status"] for outcome in found.values()} == {"ok", "warning"}
    assert httpx.get(f"{service.base_url}/readyz", timeout=20).json()["ready"] is True


def test_what_is_broken_is_named_and_the_command_ends_with_1(tmp_path: Path) -> None:
    database = "postgresql://nobody@127.0.0.1:1/none"
    done = run("check", tmp_path, DATABASE_URL=database, PARAPH_SEALING_KEY=str(tmp_path / "gone.pem"))
    assert done.returncode == 1
    lines = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    named = {rest.partition(":")[0]: status for status, rest in lines}
    assert (named["database"], named["sealing"], named["storage"]) == ("failed", "failed", "ok")
    assert "gone.pem" in done.stdout


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("command", "key"),
    [
        ("serve", "/nowhere/gone.pem"),
        ("web", "/nowhere/gone.pem"),
        ("worker", "/nowhere/gone.pem"),
        ("worker", "pkcs11:object=seal?module-path=/nowhere/gone.pem"),
        ("worker", "awskms:alias/gone.pem"),
    ],
)
def test_no_start_without_the_sealing_key(command: str, key: str, tmp_path: Path, settings: Any) -> None:
    """With the tests' own database, which has its tables and belongs to no other secret."""
    Installation.objects.all().delete()
    url = settings.PARAPH.database_url or embedded_url(settings.DATA_DIR, settings.PARAPH.postgres_dir)
    before, _, options = url.partition("?")
    database = f"{before.rpartition('/')[0]}/{connection.settings_dict['NAME']}?{options}"
    chain = make_root().chain(tmp_path, make_key("p-256").public_key())
    sealing = {"PARAPH_SEALING_KEY": key, "PARAPH_SEALING_CERTIFICATE": str(chain)}
    aws = {"AWS_REGION": "eu-central-1", "AWS_EC2_METADATA_DISABLED": "true", "HOME": str(tmp_path)}
    port = str(free_port())
    done = run(command, tmp_path / "data", DATABASE_URL=database, PARAPH_PORT=port, **sealing, **aws)
    assert done.returncode == 1
    start, *told = done.stderr.splitlines()
    assert "Paraph starts" in start
    assert len(told) == 1 and "gone.pem" in told[0], done.stderr


def test_json_is_a_list_of_outcomes(tmp_path: Path) -> None:
    done = run("check", tmp_path, "--json", DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
    assert done.returncode == 1
    assert {frozenset(outcome) for outcome in json.loads(done.stdout)} == {frozenset(("name", "status", "sentence"))}


def test_an_unknown_request_gets_a_sentence(service: Service) -> None:
    for verb in ("show", "retry"):
        with pytest.raises(subprocess.CalledProcessError) as refused:
            service.command("request", verb, "4711")
        assert refused.value.stderr == "There is no signature request 4711.\n"
