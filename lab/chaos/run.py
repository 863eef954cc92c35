"""``python -m lab.chaos.run``: the service among faults, and what was lost in the end."""

import argparse
import itertools
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.chaos import judge
from lab.chaos.apart import apart
from lab.chaos.client import Client, Made
from lab.chaos.faults import Faults
from lab.chaos.installation import Installation
from lab.chaos.supervised import supervised
from lab.chaos.world import World, world
from tests.cli.service import Service
from tests.small_disk import SmallDisk, small_disk

_CLIENTS = 6
_DISK_MB = 768
_INCIDENT = '"incident '  # logged with an answer 500, which only a fault of the service itself may cause

Make = Callable[[Path, World, SmallDisk | None], AbstractContextManager[Installation]]


@dataclass
class Report:
    """``problems``: what was lost or done twice; empty is the aim. ``repeated_mails``: see :mod:`lab.chaos.judge`."""

    seed: int
    requests: int
    faults: Counter[str]
    seconds: float
    repeated_mails: int = 0
    problems: list[str] = field(default_factory=list)


def chaos(
    folder: Path,
    make: Make = supervised,
    *,
    seed: int,
    requests: int,
    least_faults: int,
    seconds: float,
    pause: float,
    storm: float,
) -> Report:
    """Inject faults while requests are made: at least ``requests``, and more until ``least_faults`` were injected, for
    at most ``storm`` seconds. Then wait in quiet until all is done or ``seconds`` are over, and judge."""
    began = time.monotonic()
    with ExitStack() as stack:
        around = stack.enter_context(world(folder))
        here = stack.enter_context(make(folder, around, _disk(stack)))
        client = Client(
            here.service.base_url, new_key(here.service, around), around, here.database_url, began + seconds
        )
        faults = Faults(here.kinds, seed=seed, pause=pause, seconds=storm)
        faults.start()
        made = flows(client, lambda number: number < requests or faults.go_on_until(least_faults))
        faults.stop()
        print(f"{len(made)} requests signed or left to expire after {time.monotonic() - began:.0f} s", flush=True)
        report = Report(seed, len(made), faults.injected, 0)
        settle(here.service, client, made, began + seconds)
        report.problems = judge.problems(here.service, around, made)
        report.problems += [f"a process ended by itself: {ended}" for ended in here.ended()]
        report.problems += [f"a fault of the service's own: {line.strip()}" for line in here.log() if _INCIDENT in line]
        report.repeated_mails = judge.repeated_mails(around)
        report.seconds = time.monotonic() - began
        return report


def _disk(stack: ExitStack) -> SmallDisk | None:
    try:
        return stack.enter_context(small_disk(_DISK_MB))
    except PermissionError as forbidden:
        print(f"no full disk among the faults: {forbidden}")
        return None


def flows(client: Client, is_wanted: Callable[[int], bool]) -> list[Made]:
    """Let several threads make requests, numbered from 0, for as long as the next number is wanted."""
    numbers = itertools.count()

    def work() -> list[Made]:
        return [client.flow(number) for number in itertools.takewhile(is_wanted, numbers)]

    with ThreadPoolExecutor(_CLIENTS) as pool:
        working = [pool.submit(work) for _ in range(_CLIENTS)]
        return [made for future in working for made in future.result()]


def new_key(service: Service, around: World) -> str:
    organization = str(service.command("organization", "create", "Acme", "--plan", "enterprise")["id"])
    options = ["--organization", organization, "--environment", "production", "--name", "backend"]
    return str(service.command("application", "create", *options, "--webhook-url", around.hooks_url)["api_key"])


def settle(service: Service, client: Client, made: list[Made], deadline: float) -> None:
    """Wait until the requests are done; then send webhooks whose retry is minutes away now, as an operator would."""
    for request in made:
        while not client.is_done(request) and time.monotonic() < deadline:
            time.sleep(0.3)
    while time.monotonic() < deadline:
        waiting = [found for found in service.command("webhook", "list", "--limit", "10000") if _is_waiting(found)]
        if not waiting:
            return
        if again := [["webhook", "replay", str(found["id"])] for found in waiting if found["attempts"]]:
            service.commands(again)
        time.sleep(1)


def _is_waiting(delivery: dict[str, Any]) -> bool:
    return delivery["status"] not in ("delivered", "failed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=250)
    parser.add_argument("--faults", type=int, default=40, help="more requests are made until so many have fallen")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--pause", type=float, default=1, help="seconds between faults, on average")
    parser.add_argument("--storm", type=float, default=180, help="seconds after which the faults end at the latest")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--apart", action="store_true", help="web and workers without a supervisor, a database beside")
    given = parser.parse_args()
    print(f"seed {given.seed}")
    folder = Path(tempfile.mkdtemp(prefix="paraph-chaos-"))
    try:
        report = chaos(
            folder,
            apart if given.apart else supervised,
            seed=given.seed,
            requests=given.requests,
            least_faults=given.faults,
            seconds=given.seconds,
            pause=given.pause,
            storm=given.storm,
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{report.requests} requests in {report.seconds:.0f} s, {report.faults.total()} faults:")
    for kind, count in report.faults.most_common():
        print(f"  {count:4}  {kind}")
    print(f"mails sent again under the same Message-ID: {report.repeated_mails}")
    print("\n".join(["lost or done twice:", *report.problems]) if report.problems else "lost or done twice: nothing")
    sys.exit(1 if report.problems else 0)


if __name__ == "__main__":
    main()
