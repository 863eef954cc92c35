"""A disk that somebody fills: nothing dies, nothing is half made, and work goes on by itself once there is room."""

import json
import re
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.attacks.conftest import Target
from tests.cli.service import wait_until
from tests.factories import pdf
from tests.scenarios.people import sign
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
    # What needs no room works, also where a route is called for the first time, for whose figures there is none.
    signing_url = made["signers"][0]["signing_url"]
    page = httpx.get(signing_url)
    [picture] = set(re.findall(r"documents/\d+/pages/1\.webp", page.text))
    assert page.status_code == 200 and httpx.get(f"{signing_url}/{picture}").status_code == 200
    assert sign(signing_url).status_code == 200
    assert backend.read(made["id"])["status"] == "completed" and backend.journal(made["id"])
    assert backend.call("GET", "documents").status_code == 200
    assert {backend.call("GET", "nowhere").status_code for _ in range(20)} == {404}
    assert httpx.get(f"{target.base_url}/metrics").status_code == 200
    wait_until(lambda: "No space left" in json.dumps(target.command("request", "show", str(made["id"]))))
    assert target.processes().keys() >= processes.keys(), "a process ended"
    disk.clear()
    backend.upload(pdf())
    backend.finalized(made["id"])
