"""``python -m lab.chaos.failover``: the database is lost, and a standby that is in step, or behind, takes over."""

import argparse
import json
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.cli.own_postgresql import OwnPostgresql
from tests.cli.service import wait_until
from tests.contract import contract
from tests.operations.apart import Parts
from tests.scenarios.people import Backend, at, sign, signer

_FIRST, _SECOND = "127.0.0.85", "127.0.0.86"  # loopback addresses on which no other server listens
_MANY = 40  # more than the 32 numbers that PostgreSQL logs ahead: losing fewer would repeat none anyway


@dataclass
class Place:
    """``acknowledged``: the ids of the requests that callers were told of, and whether a signature was confirmed."""

    primary: OwnPostgresql
    standby: OwnPostgresql
    parts: Parts
    backend: Backend
    document: int
    acknowledged: dict[int, bool] = field(default_factory=dict)

    def create(self, document: int) -> dict[str, Any]:
        listed = {"id": document, "signers": [{"signer_ref": "a", "stamps": [at()]}]}
        made = self.backend.create(mode="parallel", validity_days=7, signers=[signer("a")], documents=[listed])
        assert made["id"] not in self.acknowledged, f"request {made['id']} was given out twice"
        self.acknowledged[made["id"]] = False
        return made

    def sign(self) -> int:
        """Upload a document, create a request and sign it; return the id of the request."""
        made = self.create(self.backend.upload(contract()))
        assert sign(made["signers"][0]["signing_url"]).status_code == 200
        self.acknowledged[made["id"]] = True
        return int(made["id"])

    def check(self, name: str) -> tuple[str, str]:
        lines = self.parts.service.run("check", "--json", "--only", name).stdout
        [found] = [line for line in json.loads(lines) if line["name"] == name]
        return found["status"], found["sentence"]

    def missing(self) -> dict[int, str]:
        """Return the acknowledged requests that are lost or have lost their signature, each with the reason."""
        found = {}
        for request_id, signed in self.acknowledged.items():
            answer = self.backend.call("GET", f"signature_requests/{request_id}")
            if answer.status_code != 200:
                found[request_id] = "it is not there"
            elif signed and answer.json()["status"] != "completed":
                found[request_id] = "its signature is not there"
        return found

    def take_over(self) -> None:
        """Lose the primary, promote the standby, and wait until callers are served again."""
        self.primary.stop("immediate")
        self.standby.promote()
        wait_until(lambda: _is_ready(self.parts), seconds=120)


def in_step(place: Place) -> None:
    """Where commits wait for the standby, nothing is lost with a primary that is lost while people sign."""
    place.primary.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
    place.primary.ask("SELECT pg_reload_conf()")
    wait_until(lambda: place.primary.ask("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1")
    assert place.check("replication")[0] == "ok"
    over = threading.Event()

    def people() -> None:
        while not over.is_set():
            try:
                place.sign()
            except (AssertionError, httpx.HTTPError) as refused:
                if "twice" in str(refused):
                    raise

    signing = threading.Thread(target=people)
    signing.start()
    try:
        wait_until(lambda: sum(place.acknowledged.values()) >= 5, seconds=120)
        place.take_over()
    finally:
        over.set()
        signing.join()
    before = max(place.acknowledged)
    assert place.sign() > before
    assert place.missing() == {}


def behind(place: Place) -> None:
    """Where commits do not wait, as ``paraph check`` warns, the numbers of lost requests are never given out again."""
    status, sentence = place.check("replication")
    assert status == "warning" and "No commit waits for a standby" in sentence
    kept = place.sign()
    place.backend.finalized(kept)
    wait_until(
        lambda: place.primary.ask("SELECT pg_current_wal_flush_lsn() = flush_lsn FROM pg_stat_replication") == "True"
    )
    place.standby.ask("ALTER SYSTEM SET primary_conninfo = ''")  # cuts the standby off
    place.standby.ask("SELECT pg_reload_conf()")
    wait_until(lambda: place.primary.ask("SELECT count(*) FROM pg_stat_replication") == "0")
    before = set(place.acknowledged)
    for _ in range(3):
        place.backend.finalized(place.sign())
    for _ in range(_MANY):
        place.create(place.document)
    lost = set(place.acknowledged) - before
    place.take_over()
    place.sign()  # also asserts that no number is given out twice
    place.sign()
    assert set(place.missing()) == lost


SCENARIOS = {"in step": in_step, "behind": behind}


@contextmanager
def place(folder: Path) -> Iterator[Place]:
    primary, standby = OwnPostgresql(_FIRST), OwnPostgresql(_SECOND)
    url = f"postgresql://paraph@/paraph?host={_FIRST},{_SECOND}&target_session_attrs=read-write&connect_timeout=2"
    parts = Parts(folder, url, PARAPH_MESSAGES_PER_DESTINATION="0")
    try:
        primary.create()
        standby.follow(primary)
        parts.service.command("migrate")
        application = parts.service.new_application()
        for part in ("web", "worker"):
            parts.start(part)
        wait_until(lambda: _is_ready(parts), seconds=120)
        backend = Backend(parts.url, application["api_key"])
        yield Place(primary, standby, parts, backend, backend.upload(contract()))
    except BaseException:
        for log in folder.glob("*.log"):
            print(*log.read_text().splitlines()[-20:], sep="\n", file=sys.stderr)
        raise
    finally:
        parts.remove()
        standby.remove()
        primary.remove()


def _is_ready(parts: Parts) -> bool:
    try:
        return httpx.get(f"{parts.url}/readyz", timeout=30).status_code == 200
    except httpx.TransportError:
        return False


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    for name, scenario in SCENARIOS.items():
        folder = Path(tempfile.mkdtemp(prefix="paraph-failover-"))
        try:
            with place(folder) as here:
                scenario(here)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        print(f"a standby that is {name} took over: {len(here.acknowledged)} requests, as it should be", flush=True)


if __name__ == "__main__":
    main()
