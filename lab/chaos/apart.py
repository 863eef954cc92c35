"""``paraph web`` and two ``paraph worker``, which nobody starts again, and a PostgreSQL whose operator restarts it in
every mode. The database is not on the disk of the data folder."""

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from lab.chaos.faults import Fault
from lab.chaos.installation import Installation
from lab.chaos.surroundings import SETTINGS, surroundings
from lab.chaos.world import World
from tests.cli.own_postgresql import OwnPostgresql
from tests.cli.service import Service, wait_until
from tests.small_disk import SmallDisk

_ADDRESS = "127.0.0.84"  # loopback address on which no other server listens
_PARTS = {"web": "web", "one worker": "worker", "the other worker": "worker"}
_READY_SECONDS = 120
_LONGEST_OUTAGE = 4  # s; one of 12 s has a test of its own


@contextmanager
def apart(folder: Path, world: World, disk: SmallDisk | None) -> Iterator[Installation]:
    """Yield the running installation; stop its processes and remove its database even when something fails."""
    database = OwnPostgresql(_ADDRESS)
    processes: dict[str, subprocess.Popen[bytes]] = {}
    log = folder / "log"
    try:
        database.create()
        service = _service(disk.place if disk else folder, world, database)
        processes |= {name: _begin(service, command, log) for name, command in _PARTS.items()}
        wait_until(lambda: _is_ready(service), _READY_SECONDS)
        kinds = _restarts(database) | surroundings(world, service.data_dir, disk)
        yield Installation(
            service, database.url, kinds, lambda: log.read_text().splitlines(), lambda: _ended(processes)
        )
    except BaseException:
        print(*log.read_text().splitlines()[-60:] if log.exists() else [], sep="\n")
        raise
    finally:
        for process in processes.values():
            process.terminate()
        for process in processes.values():
            process.wait(60)
        database.remove()


def _service(place: Path, world: World, database: OwnPostgresql) -> Service:
    settings = SETTINGS | world.settings | {"PARAPH_WEB_PROCESSES": "2", "DATABASE_URL": database.url}
    service = Service(place / "data", **settings)
    done = service.run("migrate")
    assert done.returncode == 0, done.stderr
    return service


def _begin(service: Service, command: str, log: Path) -> "subprocess.Popen[bytes]":
    with log.open("ab") as output:
        line = [sys.executable, "-m", "paraph", command]
        return subprocess.Popen(line, env=service.environment, stdout=output, stderr=output)


def _is_ready(service: Service) -> bool:
    try:
        return httpx.get(f"{service.base_url}/readyz", timeout=30).status_code == 200
    except httpx.TransportError:
        return False


def _restarts(database: OwnPostgresql) -> dict[str, Fault]:
    def restart(mode: str) -> Fault:
        def stop_and_start(chance: random.Random) -> None:
            if mode == "smart":  # waits for open connections to end, until the operator gives up
                database.stop("smart", wait=False)
                time.sleep(chance.uniform(0.5, 2))
            database.stop("fast" if mode == "smart" else mode)
            time.sleep(chance.uniform(0, _LONGEST_OUTAGE))
            database.start()

        return stop_and_start

    return {f"{mode} restart of the database": restart(mode) for mode in ("fast", "immediate", "smart")}


def _ended(processes: "dict[str, subprocess.Popen[bytes]]") -> list[str]:
    return [f"{name}, {process.returncode}" for name, process in processes.items() if process.poll() is not None]
