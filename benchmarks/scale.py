"""A service whose database is very large beside one whose database is nearly empty: every figure and their ratio.

    python -m benchmarks.scale [--scale 0.1] [--seconds 10] [--rounds 3] [--reads 25]

At scale 1 the large one has 10,000,000 requests of twenty organizations, 100,000,000 entries of the journal, and
1,000,000 retries of webhooks and as many of jobs, all waiting; the small one has 2,000 requests of one organization.
Filling takes minutes at a tenth. Both run on this machine and do everything in turns, so that its moods meet both; the
median counts. Ends with 1 where a ratio is above 1.3.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from benchmarks import flow, started_service
from benchmarks.flow import Run
from benchmarks.started_service import StartedService
from benchmarks.turns import in_turns
from benchmarks.webhook_receiver import WebhookReceiver

_REQUESTS, _RETRIES, _ORGANIZATIONS = 10_000_000, 1_000_000, 20
_FEW_REQUESTS, _FEW_RETRIES = 2_000, 200
_MOST = 1.3
_SETTINGS = {"PARAPH_RATE_LIMIT_FACTOR": "1000000", "PARAPH_LOG_LEVEL": "WARNING"}


class Size(NamedTuple):
    organizations: int
    requests: int
    retries: int


class Side:
    """A service on a database of that size. ``crowd``: a key, an owner's cookies and pages of an organization in it."""

    def __init__(self, data_dir: Path, size: Size) -> None:
        self.data_dir, self.size, self.service = data_dir, size, StartedService(data_dir, **_SETTINGS)

    def fill(self) -> None:
        began = time.perf_counter()
        self.crowd = json.loads(_child(self.data_dir, "benchmarks.crowd", str(self.data_dir), *map(str, self.size)))
        print(f"{self.size.requests:,} requests in {time.perf_counter() - began:.0f} s", flush=True)

    def start(self, receiver: WebhookReceiver) -> None:
        self.service.start()
        self.flow_key = self.service.new_sandbox_application(receiver.url)["api_key"]
        of_crowd = {"headers": {"X-Api-Key": self.crowd["key"]}, "cookies": self.crowd["cookies"]}
        self._client = httpx.Client(base_url=self.service.url, timeout=60, **of_crowd)

    def read(self, path: str) -> None:
        self._client.get(path).raise_for_status()

    def check(self) -> None:
        """``paraph check`` may warn."""
        _child(self.data_dir, "paraph", "check", may_fail=True)

    @contextmanager
    def polls(self) -> Iterator[dict[str, Callable[[], Any]]]:
        """What workers ask again and again, by name, asked by a process of its own."""
        environment = os.environ | {"PARAPH_DATA_DIR": str(self.data_dir)}
        command = [sys.executable, "-m", "benchmarks.polls"]
        with subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdin
            assert child.stdout
            yield {name: partial(_ask, child.stdin, child.stdout, name) for name in json.loads(child.stdout.readline())}
            child.stdin.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--seconds", type=float, default=10, help="of flows, in each round and on each side")
    parser.add_argument("--rounds", type=int, default=3, help="of flows and of whole checks")
    parser.add_argument("--reads", type=int, default=25, help="of everything else")
    arguments = parser.parse_args()
    started_service._START_SECONDS = 300  # two at once, on a machine that may be busy
    os.environ |= _SETTINGS
    large = Size(_ORGANIZATIONS, int(_REQUESTS * arguments.scale), int(_RETRIES * arguments.scale))
    with ExitStack() as stack:
        receiver = stack.enter_context(WebhookReceiver())
        sides = []
        for size in (large, Size(1, _FEW_REQUESTS, _FEW_RETRIES)):
            temporary = tempfile.TemporaryDirectory(prefix="paraph-scale-", ignore_cleanup_errors=True)
            sides.append(Side(Path(stack.enter_context(temporary)), size))
            stack.callback(sides[-1].service.stop)  # which removes its database
            sides[-1].fill()
            sides[-1].start(receiver)
        ratios = _compared(sides, receiver, arguments)
    sys.exit(f"the worst ratio is {max(ratios):.2f}" if max(ratios) > _MOST else 0)


def _compared(sides: Sequence[Side], receiver: WebhookReceiver, arguments: argparse.Namespace) -> list[float]:
    print(f"\n{'milliseconds':66}{'large':>10}{'small':>10}{'ratio':>8}", flush=True)
    ratios = [_shown("a flow (of this machine)", _flows(sides, receiver, arguments.rounds, arguments.seconds))]
    for name, paths in _paths(sides):
        reads = [partial(side.read, path) for side, path in zip(sides, paths, strict=True)]
        ratios.append(_shown(name, in_turns(reads, arguments.reads)))
    with sides[0].polls() as large, sides[1].polls() as small:
        for name in large:
            ratios.append(_shown(name, in_turns([large[name], small[name]], arguments.reads, warm=6)))  # prepared then
    ratios.append(_shown("paraph check", in_turns([side.check for side in sides], arguments.rounds, warm=1)))
    return ratios


def _flows(sides: Sequence[Side], receiver: WebhookReceiver, rounds: int, seconds: float) -> list[float]:
    def run(side: Side, seconds: float) -> Run:
        return flow._run(side.service.url, [side.flow_key] * 4, receiver, clients=4, seconds=seconds)

    for side in sides:
        run(side, 2)  # warm
    taken: list[list[float]] = [[] for _ in sides]
    for _ in range(rounds):
        for side, times in zip(sides, taken, strict=True):
            done = run(side, seconds)
            times.append(done.elapsed / len(done.tally.ends) * 1000)
    return [statistics.median(times) for times in taken]


def _paths(sides: Sequence[Side]) -> Iterator[tuple[str, list[str]]]:
    """A name, and the path of each side."""
    days = f"created_after={_day(200)}&created_before={_day(100)}"
    for path, status in (("signature_requests", "pending"), ("documents", "ready")):
        for query in ("", f"status={status}", "order=desc", days, f"status={status}&{days}&order=desc"):
            name = f"GET /{path} {query.replace(days, 'within dates')}"
            yield name, [f"/api/v1/{path}?{query}" for _ in sides]
    for title in sides[0].crowd["pages"]:
        yield f"dashboard: {title}", [side.crowd["pages"][title] for side in sides]
    yield "GET /metrics", ["/metrics" for _ in sides]


def _shown(name: str, times: list[float]) -> float:
    large, small = times
    mark = "  above 1.3" if large / small > _MOST else ""
    print(f"{name:66}{large:10.1f}{small:10.1f}{large / small:8.2f}{mark}", flush=True)
    return large / small


def _ask(to: Any, answers: Any, name: str) -> None:
    to.write(f"{name}\n")
    to.flush()
    if answers.readline() != "done\n":
        raise SystemExit(f"{name}: benchmarks.polls ended")


def _day(ago: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(time.time() - ago * 86_400))


def _child(data_dir: Path, module: str, *arguments: str, may_fail: bool = False) -> str:
    """What a program prints that works on this data folder."""
    environment = os.environ | {"PARAPH_DATA_DIR": str(data_dir)}
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode and not may_fail:
        raise SystemExit(f"{module} {' '.join(arguments)} ended with {done.returncode}")
    return done.stdout.strip()


if __name__ == "__main__":
    main()
