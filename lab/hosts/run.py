"""``python -m lab.hosts.run``: two hosts behind a balancer; one host is lost, and nothing may be lost with it."""

import argparse
import itertools
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from lab.chaos import judge
from lab.chaos.client import Client, Made
from lab.chaos.run import new_key, settle
from lab.hosts.acts import play
from lab.hosts.network import ALONE, refusal
from lab.hosts.place import Place, place

_CLIENTS = 3
_PAUSE = 1.5  # s between a client's requests in the short form, which is for busy machines
_SECONDS = 900


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flows", type=int, default=100, help="requests to be made; more until all has happened")
    parser.add_argument("--short", action="store_true", help="one worker on each host, and each thing once")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not given.alone:
        if forbidden := refusal():
            sys.exit(forbidden)
        again = [sys.executable, "-m", "lab.hosts.run", "--alone", *sys.argv[1:]]
        sys.exit(subprocess.run([*ALONE, *again], check=False).returncode)
    folder = Path(tempfile.mkdtemp(prefix="paraph-hosts-"))
    folder.chmod(0o755)
    try:
        problems = hosts(folder, flows=given.flows, whole=not given.short)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(["lost or done twice:", *problems]) if problems else "lost or done twice: nothing")
    sys.exit(1 if problems else 0)


def hosts(folder: Path, *, flows: int, whole: bool) -> list[str]:
    """Return a sentence for each request or mail that was lost or done twice."""
    began = time.monotonic()
    with place(folder, workers=2 if whole else 1) as here:
        try:
            _say(began, "two hosts answer")
            key = new_key(here.operator, here.around)
            client = Client(here.url, key, here.around, here.database, began + _SECONDS)
            made = _among_acts(here, client, key, flows=flows, whole=whole, began=began)
            settle(here.operator, client, made, began + _SECONDS)
            found = judge.problems(here.operator, here.around, made)
            stored = here.operator.run("verify-store", "--json")
            _say(began, "all is quiet")
            return [*found, *([stored.stdout + stored.stderr] if stored.returncode else [])]
        except BaseException:
            for machine in here.machines:
                print(*machine.log.read_text().splitlines()[-20:], sep="\n", file=sys.stderr)
            raise


def _among_acts(here: Place, client: Client, key: str, *, flows: int, whole: bool, began: float) -> list[Made]:
    """Let people make requests until all faults are over, at least ``flows`` of them; return the requests."""
    made: list[Made] = []
    numbers = itertools.count()

    def work() -> None:
        while len(made) < flows or not acting.done():
            made.append(client.flow(next(numbers)))
            time.sleep(0 if whole else _PAUSE)

    def wait_for_flows(after: str) -> None:
        wanted = len(made) + _CLIENTS
        while len(made) < wanted and not any(future.done() for future in working):
            time.sleep(0.05)
        _say(began, f"{after}; {len(made)} requests")

    with ThreadPoolExecutor(_CLIENTS + 1) as pool:
        working: list[Future[None]] = []
        acting = pool.submit(play, here, key, wait_for_flows, whole=whole)
        working = [pool.submit(work) for _ in range(_CLIENTS)]
        acting.result()
        for future in working:
            future.result()
    return made


def _say(began: float, words: str) -> None:
    print(f"{time.monotonic() - began:4.0f} s  {words}", flush=True)


if __name__ == "__main__":
    main()
