"""A disk that somebody fills: nothing dies, nothing is half made, and work goes on by itself once there is room."""

import json
import re
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.attacks.conftest import Target
from tests.cli.service import wait_until
from tests.factories import pdf
from tests.scenarios.people import code_for, sign
from tests.small_disk import SmallDisk, small_disk

pytestmark = pytest.mark.thorough

MIB = 1024 * 1024
FLOOR = 4


@pytest.fixture(scope="module")
def disk() -> Iterator[SmallDisk]:
    """Yield a disk of 64 MiB; skip the tests where none can be made."""
    try:
        with small_disk(64) as made:
            yield made
    except PermissionError as forbidden:
        pytest.skip(str(forbidden))


@pytest.fixture(scope="module")
def target(disk: SmallDisk, new_target: Callable[..., Target]) -> Target:
    """Return a target with its database on another disk, as under root; ``make chaos`` puts it on the full one."""
    return new_target(data_dir=disk.place / "data", PARAPH_FREE_SPACE_MB=str(FLOOR))


def test_a_full_disk_refuses_uploads_and_nothing_else(target: Target, disk: SmallDisk) -> None:
    backend = target.backend()
    made = backend.ask("zoe")
    processes = target.processes()
    disk.fill(leave=(FLOOR + 1) * MIB)
    assert backend.call("POST", "documents", files={"file": ("a.pdf", pdf(), "application/pdf")}).status_code == 201
    large = backend.call("POST", "documents", files={"file": ("a.pdf", pdf() + b"\n" * 2 * MIB, "application/pdf")})
    assert (large.status_code, large.json()["error"]["code"]) == (507, "insufficient_storage")
    disk.fill()
    small = backend.call("POST", "documents", files={"file": ("a.pdf", pdf(), "application/pdf")})
    assert (small.status_code, small.json()["error"]["code"]) == (507, "insufficient_storage")
    _what_needs_no_room_works(target, made["signers"][0]["signing_url"], made["id"])
    assert target.processes().keys() >= processes.keys(), "a process ended"
    disk.clear()
    backend.upload(pdf())
    backend.finalized(made["id"])


def _what_needs_no_room_works(target: Target, signing_url: str, request_id: int) -> None:
    """Call routes for the first time as well: the disk has no room for their first figures."""
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
