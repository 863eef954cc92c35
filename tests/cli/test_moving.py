"""Files move from the folder to a bucket while people sign, as docs/surroundings.md has it."""

from pathlib import Path

import pytest

from tests.cli.service import Service, small_service
from tests.cli.test_backup import flow
from tests.operations.apart import Flows
from tests.scenarios.people import Backend
from tests.storage.s3_server import s3_server, variables

pytestmark = pytest.mark.thorough

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
    """Copies, and returns how many files were not there yet."""
    service.environment |= target
    found = service.command("storage", "copy", "folder", BUCKET)
    assert found["finished"] and (found["problems"], found["remain"]) == ([], 0)
    return int(found["copied"])
