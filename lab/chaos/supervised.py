"""``paraph serve``: its processes are killed, its database restarts, and its supervisor starts them all again. Its
data and its database are together on a small disk, where one can be made."""

import contextlib
import json
import os
import random
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.chaos.faults import Fault
from lab.chaos.installation import Installation
from lab.chaos.surroundings import SETTINGS, surroundings
from lab.chaos.world import World
from paraph.postgres import embedded_url
from tests.cli.service import Service
from tests.small_disk import SmallDisk

_KILLED = ("paraph-web", "paraph-worker", "postgres")
_RESTARTS = {"fast restart of the database": signal.SIGINT, "immediate restart of the database": signal.SIGQUIT}


@contextmanager
def supervised(folder: Path, world: World, disk: SmallDisk | None) -> Iterator[Installation]:
    """Yield the running installation; stop it even when something fails."""
    place = disk.place if disk else folder
    postgres = place / "postgres" if disk else None
    own = {"PARAPH_POSTGRES_DIR": str(postgres)} if postgres else {}
    processes = {"PARAPH_WORKER_PROCESSES": "2", "PARAPH_WEB_PROCESSES": "2"}
    service = Service(place / "data", **processes, **own, **SETTINGS, **world.settings)
    service.start()
    kinds = {name: _kill(service, name) for name in _KILLED}
    kinds |= {name: _restart(service, postgres, mode) for name, mode in _RESTARTS.items()}
    kinds |= surroundings(world, service.data_dir, disk)
    try:
        yield Installation(
            service, embedded_url(service.data_dir, postgres), kinds, lambda: service.output, lambda: _ended(service)
        )
    except BaseException:
        print("".join(service.output[-60:]))  # the last lines say why
        raise
    finally:
        service.stop()
        shutil.rmtree((service.data_dir / "postgres").resolve(), ignore_errors=True)


def _kill(service: Service, name: str) -> Fault:
    def kill(chance: random.Random) -> None:
        found = [pid for pid in service.processes() if _name(pid) == name]
        if found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(sorted(found)), signal.SIGKILL)

    return kill


def _restart(service: Service, postgres: Path | None, mode: signal.Signals) -> Fault:
    """Return a restart by ``pg_ctl``'s signal. No worker may end by it: nobody but a supervisor would restart it."""
    file = ((postgres or service.data_dir / "postgres") / "cluster" / "postmaster.pid").resolve()

    def restart(_: random.Random) -> None:
        with contextlib.suppress(OSError, ValueError, IndexError):  # the database is just starting again
            os.kill(int(file.read_text().split(maxsplit=1)[0]), mode)

    return restart


def _ended(service: Service) -> list[str]:
    """Return the log lines of the service's own processes that ended by themselves, which no fault may cause."""
    return [line.strip() for line in service.output if _ended_by_itself(line)]


def _ended_by_itself(line: str) -> bool:
    """Whether the supervisor tells of a child that nobody killed."""
    return "a child process ended" in line and json.loads(line)["status"] != -signal.SIGKILL


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
