"""A small world of each published version, upgraded while it is in use: nothing is lost, and nobody is turned away.

Until one is published, the world of this version stands in for them."""

import io
import json
import lzma
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from paraph.keys.development import root_file
from paraph.operations.backup.archive import CONTENTS, DATABASE
from paraph.postgres import Server, transfer
from tests.cli.service import clean_environment, free_port, remove, status, wait_until
from tests.operations.apart import Flows
from tests.receiver import Receiver, receiver
from tests.scenarios.people import Backend, sign
from tests.upgrades import next_version
from tests.upgrades.make_dump import WORLDS, make

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]
FLOWS_A_SECOND = 3
PEOPLE = 4
PASSES = 4 * PEOPLE  # flows after which each of them has begun and ended one since
VERSIONS = sorted(path.parent for path in WORLDS.glob("*/facts.json"))


@dataclass
class World:
    """What an earlier version left: its database in a running server, its data folder, and the facts about both."""

    facts: dict[str, Any]
    environment: dict[str, str]
    hooks: Receiver

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.environment["DATABASE_URL"], autocommit=True) as connection:
            return connection.execute(statement).fetchall()

    def backend(self, port: int) -> Backend:
        return Backend(f"http://127.0.0.1:{port}", self.facts["application"]["api_key"])

    def paraph(self, *arguments: str, **settings: str) -> Any:
        command = [sys.executable, "-m", "paraph", *arguments, "--json"]
        environment = {**self.environment, **settings}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module", params=VERSIONS or [Path("this")], ids=lambda folder: folder.name)
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a world; a new one of this version where none is published."""
    return request.param if VERSIONS else make(tmp_path_factory.mktemp("world"))


@pytest.fixture
def world(kept: Path, tmp_path: Path) -> Iterator[World]:
    folder, data_dir = kept, tmp_path / "data"
    facts = json.loads((folder / "facts.json").read_text())
    (tmp_path / "backup").write_bytes(lzma.decompress((folder / "world.backup.xz").read_bytes()))
    server = Server(tmp_path / "database", connections=80)
    server.start()
    try:
        with tarfile.open(tmp_path / "backup") as tar:  # unpacked, not restored: the operator upgrades in place
            tar.extractall(data_dir, filter="data")
        with (data_dir / DATABASE).open("rb") as dump:
            transfer.load(server.url, dump, (data_dir / CONTENTS).read_bytes())
        with receiver() as hooks, psycopg.connect(server.url, autocommit=True) as connection:
            # Time has passed since the world was made: its receiver is elsewhere, and its requests must not expire.
            for table, column in (("organizations_application", "webhook_url"), ("webhooks_delivery", "url")):
                connection.execute(f"UPDATE {table} SET {column} = %s WHERE {column} <> ''", [hooks.url()])
            later = "SET expires_at = now() + interval '20 days' WHERE status = 'pending'"
            connection.execute(f"UPDATE signature_requests_signaturerequest {later}")
            few = {"PARAPH_WEB_PROCESSES": "1", "PARAPH_WEB_THREADS": "16", "PARAPH_ALLOW_PRIVATE_ADDRESSES": "true"}
            many = {"PARAPH_RATE_LIMIT_FACTOR": "100", "PARAPH_MESSAGES_PER_DESTINATION": "0"}
            yield World(facts, clean_environment(data_dir, DATABASE_URL=server.url, **few, **many), hooks)
    finally:
        server.stop()
        remove(tmp_path / "database")


def test_an_upgrade_in_use_loses_nothing(world: World, tmp_path: Path) -> None:
    ports = free_port(), free_port()
    with ExitStack() as new:
        with running(world, ports[0], earlier_sources(world.facts["commit"], tmp_path)):
            backends = [world.backend(ports[0])]
            flows = traffic(backends)
            flows.go_on(PASSES)
            world.paraph("migrate")
            later = next_version.write(tmp_path)
            assert world.paraph("migrate", **later)["applied"] == len(next_version.TABLES) + 1
            flows.go_on(PASSES)  # the version before works with the tables of this one
            new.enter_context(running(world, ports[1], ROOT))
            backends.append(world.backend(ports[1]))
            flows.go_on(PASSES)  # and beside the processes of this one
            signed = flows.end()
        finish_what_was_begun(world, world.backend(ports[1]), signed)
        old_files_verify(world, world.backend(ports[1]), tmp_path)
    assert world.paraph("verify-store")["found"] == 0
    members = world.paraph("member", "list", "--organization", str(world.facts["application"]["organization_id"]))
    assert [member["email"] for member in members] == ["olga@example.com"]


def test_the_version_before_goes_on_after_the_new_one_was_in_use(world: World, tmp_path: Path) -> None:
    """The way back: web servers and workers of the version before run on the new tables, with the rows, jobs and files
    that the new version has left."""
    port, before = free_port(), earlier_sources(world.facts["commit"], tmp_path)
    world.paraph("migrate")
    backend = world.backend(port)
    with running(world, port, ROOT):
        new = traffic([backend])
        new.go_on(PASSES)
        new.end()
        left, path = begin(backend)
    with running(world, port, before):
        old = traffic([backend])
        old.go_on(PASSES)
        old.end()
        assert sign(f"{backend.url}{path}").status_code == 200
        finish_what_was_begun(world, backend, [left, *new.requests, *old.requests])
    old_tools = {"PYTHONPATH": f"{before / 'src'}:{ROOT / 'clients/python/src'}"}
    assert world.paraph("verify-store", **old_tools)["found"] == 0


def finish_what_was_begun(world: World, backend: Backend, also: list[int]) -> None:
    """Finish what the version before left and what was signed during the upgrade."""
    ongoing, waiting = world.facts["ongoing"], world.facts["waiting"]
    assert waiting["webhooks"] and waiting["paraph.flow.jobs.finalize"] and waiting["paraph.flow.jobs.invite"]
    assert sign(f"{backend.url}{ongoing['signing_path']}").status_code == 200
    completed = [ongoing["id"], world.facts["signed"], *also]
    for request_id in completed:
        backend.finalized(request_id)
    backend.told(world.facts["invited"], "signer.notified")
    wait_until(lambda: not world.rows("SELECT FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"), seconds=180)
    assert not world.rows("SELECT FROM procrastinate_jobs WHERE status = 'failed'")
    wait_until(lambda: not world.rows("SELECT FROM webhooks_delivery WHERE status <> 'delivered'"))
    told = world.rows("SELECT request_id FROM webhooks_delivery WHERE event_type = 'request.completed'")
    assert {request_id for (request_id,) in told} >= set(completed)
    assert len({hook.headers["X-Service-Delivery"] for hook in world.hooks.received}) >= len(completed)


def old_files_verify(world: World, backend: Backend, folder: Path) -> None:
    """This version's ``paraph verify`` accepts the files of the request that the version before finished."""
    [links] = backend.read(world.facts["finished"])["download_urls"]
    files = []
    for name in ("certificate_url", "signed_url"):
        files.append(folder / f"{name}.pdf")
        files[-1].write_bytes(httpx.get(links[name]).raise_for_status().content)
    data_dir = Path(world.environment["PARAPH_DATA_DIR"])
    [[upload]] = world.rows(
        "SELECT object_key FROM documents_document JOIN signature_requests_requestdocument named "
        f"ON document_id = documents_document.id WHERE named.request_id = {world.facts['finished']}"
    )
    files.append(data_dir / "objects" / upload)
    root = root_file(data_dir / "keys")
    assert world.paraph("verify", *map(str, files), "--root", str(root))["ok"]


def traffic(backends: list[Backend]) -> Flows:
    """Requests that are created and signed, as many as in a busy installation: three begin each second, each at the
    newest of the ``backends`` at that moment."""

    def once() -> int:
        time.sleep(PEOPLE / FLOWS_A_SECOND)
        backend = backends[-1]
        request_id, path = begin(backend)
        assert sign(f"{backend.url}{path}").status_code == 200
        return request_id

    flows = Flows(once, 180, PEOPLE)
    flows.start()
    return flows


def begin(backend: Backend) -> tuple[int, str]:
    """Make a request. Return its id and the path of its one signing link."""
    made = backend.ask("a")
    return int(made["id"]), urlsplit(made["signers"][0]["signing_url"]).path


@contextmanager
def running(world: World, port: int, sources: Path) -> Iterator[None]:
    """Run ``paraph web`` and ``paraph worker`` of these sources."""
    environment = {
        **world.environment,
        "PARAPH_PORT": str(port),
        "PYTHONPATH": f"{sources / 'src'}:{ROOT / 'clients/python/src'}",
    }
    command = [sys.executable, "-m", "paraph"]
    processes = [subprocess.Popen([*command, part], env=environment) for part in ("web", "worker")]
    try:
        wait_until(lambda: status(f"http://127.0.0.1:{port}/readyz") == 200, seconds=180)
        yield
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
        assert [process.wait(60) for process in processes] == [0, 0]


def earlier_sources(commit: str, folder: Path) -> Path:
    """The sources of that commit; where its history is not at hand, as in a shallow clone, those of this version."""
    archive = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        return ROOT
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
        tar.extractall(folder, filter="data")
    return folder
