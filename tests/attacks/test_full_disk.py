"""A disk that somebody fills: nothing dies, nothing is half made, and work goes on by itself once there is room."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.attacks.conftest import Target
from tests.cli.service import wait_until
from tests.factories import pdf
from tests.scenarios.people import at, code_for, sign, signer

pytestmark = pytest.mark.thorough

MIB = 1024 * 1024
FLOOR = 4


@pytest.fixture(scope="module")
def small_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One of 64 MiB."""
    place = tmp_path_factory.mktemp("disk")
    command = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(place)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"a small disk can only be made by root: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


@pytest.fixture(scope="module")
def target(small_disk: Path, new_target: Callable[..., Target]) -> Target:
    """Its database is on another disk, as always where root runs the service: what a full one does to PostgreSQL is
    PostgreSQL's."""
    return new_target(data_dir=small_disk / "data", PARAPH_FREE_SPACE_MB=str(FLOOR))


def fill(disk: Path, leave: int) -> Path:
    filler = disk / "filler"
    with filler.open("ab") as file:
        while (free := os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize - leave) > 0:
            file.write(b"x" * min(free, MIB))
            file.flush()
    return filler


def test_a_full_disk_refuses_uploads_and_nothing_else(target: Target, small_disk: Path) -> None:
    backend = target.backend()
    placements = [{"signer_ref": "a", "stamps": [at()]}]
    made = backend.create(
        mode="parallel", validity_days=7, signers=[signer("a")],
        documents=[{"id": backend.upload(pdf()), "signers": placements}],
    )  # fmt: skip
    processes = target.processes()
    filler = fill(small_disk, leave=(FLOOR + 1) * MIB)
    assert backend.call("POST", "documents", files={"file": ("a.pdf", pdf(), "application/pdf")}).status_code == 201
    large = backend.call("POST", "documents", files={"file": ("a.pdf", pdf() + b"\n" * 2 * MIB, "application/pdf")})
    assert (large.status_code, large.json()["error"]["code"]) == (507, "insufficient_storage")
    fill(small_disk, leave=0)
    small = backend.call("POST", "documents", files={"file": ("a.pdf", pdf(), "application/pdf")})
    assert (small.status_code, small.json()["error"]["code"]) == (507, "insufficient_storage")
    _what_needs_no_room_works(target, made["signers"][0]["signing_url"], made["id"])
    assert target.processes().keys() >= processes.keys(), "a process ended"
    filler.unlink()
    backend.upload(pdf())
    backend.finalized(made["id"])


def _what_needs_no_room_works(target: Target, signing_url: str, request_id: int) -> None:
    """Every route that was not called before has its first figures now, for which the disk has no room."""
    page = httpx.get(signing_url)
    [picture] = set(re.findall(r"documents/\d+/pages/1\.webp", page.text))
    assert page.status_code == 200 and httpx.get(f"{signing_url}/{picture}").status_code == 200
    assert sign(signing_url, code_for(signing_url)).status_code == 200
    backend = target.backend()
    assert backend.read(request_id)["status"] == "completed"
    assert backend.call("GET", "documents").status_code == 200
    assert backend.journal(request_id)
    for _ in range(20):
        assert backend.call("GET", "nowhere").status_code == 404
    assert httpx.get(f"{target.base_url}/metrics").status_code == 200
    wait_until(lambda: "No space left" in json.dumps(target.command("request", "show", str(request_id))))
