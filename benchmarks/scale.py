"""A service whose database is very large beside one whose database is nearly empty: every figure and their ratio.

    python -m benchmarks.scale [--scale 0.1] [--seconds 10] [--rounds 3]

At scale 1 the large one has 10,000,000 requests, 100,000,000 entries of the journal, and 1,000,000 retries of webhooks
and as many of jobs, all waiting; filling it takes hours and about 100 GB. Both services run on this machine and are
measured in turns, so that its moods meet both; the median of the rounds counts. No ratio is to be above 1.3.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import httpx

from benchmarks import flow
from paraph.cli.demo import service as demo_service
from paraph.cli.demo.service import DemoService
from paraph.cli.demo.webhook_receiver import WebhookReceiver

_REQUESTS, _RETRIES = 10_000_000, 1_000_000
_FEW = 200
_READS = 15
_MOST = 1.3


@dataclass
class Side:
    service: DemoService
    flow_key: str
    crowd_key: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    demo_service._START_SECONDS = 300  # two at once, on a machine that may be busy
    os.environ |= {"PARAPH_RATE_LIMIT_FACTOR": "1000000"}
    sizes = (int(_REQUESTS * arguments.scale), int(_RETRIES * arguments.scale)), (_FEW, _FEW)
    with (
        tempfile.TemporaryDirectory(prefix="paraph-large-") as large,
        tempfile.TemporaryDirectory(prefix="paraph-small-") as small,
        WebhookReceiver() as receiver,
    ):
        services = [DemoService(Path(folder)) for folder in (large, small)]
        try:
            for service in services:
                service.start()
            sides = [_filled(one, receiver, *size) for one, size in zip(services, sizes, strict=True)]
            figures = [_measured(sides, receiver, arguments.seconds) for _ in range(arguments.rounds)]
        finally:
            for service in services:
                service.stop()
    _print(figures, sizes[0])


def _filled(service: DemoService, receiver: WebhookReceiver, requests: int, retries: int) -> Side:
    began = time.perf_counter()
    crowd_key = _child(service, "benchmarks.crowd", str(requests), str(retries))
    print(f"{requests:,} requests in {time.perf_counter() - began:.0f} s", flush=True)
    return Side(service, service.new_sandbox_application(receiver.url)["api_key"], crowd_key)


def _measured(sides: list[Side], receiver: WebhookReceiver, seconds: float) -> list[dict[str, float]]:
    """Of each side, by name; all of them are the worse the larger."""
    found: list[dict[str, float]] = [{} for _ in sides]
    for side, figures in zip(sides, found, strict=True):
        run = flow._run(side.service.url, [side.flow_key] * 4, receiver, clients=4, seconds=seconds)
        figures["flow (ms of this machine)"] = run.elapsed / len(run.tally.ends) * 1000
    for side, figures in zip(sides, found, strict=True):
        figures.update(_lists(side) | json.loads(_child(side.service, "benchmarks.polls")))
        figures["GET /metrics"] = _median(f"{side.service.url}/metrics", "")
        began = time.perf_counter()
        _child(side.service, "paraph", "check")
        figures["paraph check"] = (time.perf_counter() - began) * 1000
    return found


def _lists(side: Side) -> dict[str, float]:
    days = f"created_after={_day(200)}&created_before={_day(100)}"
    figures = {}
    for path, status in (("signature_requests", "pending"), ("documents", "ready")):
        for query in ("", f"status={status}", "order=desc", days, f"status={status}&{days}&order=desc"):
            name = f"GET /{path} {query.replace(days, 'within dates')}"
            figures[name] = _median(f"{side.service.url}/api/v1/{path}?{query}", side.crowd_key)
    return figures


def _median(url: str, key: str) -> float:
    times = []
    with httpx.Client(headers={"X-Api-Key": key}, timeout=60) as client:
        for _ in range(_READS + 3):
            began = time.perf_counter()
            client.get(url).raise_for_status()
            times.append(time.perf_counter() - began)
    return statistics.median(times[3:]) * 1000


def _day(ago: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(time.time() - ago * 86_400))


def _child(service: DemoService, module: str, *arguments: str) -> str:
    """What a program prints that works on the data folder of this service. ``paraph check`` may warn."""
    environment = os.environ | {"PARAPH_DATA_DIR": str(service.data_dir)}
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode and arguments != ("check",):
        raise SystemExit(f"{module} {' '.join(arguments)} ended with {done.returncode}")
    return done.stdout.strip()


def _print(rounds: list[list[dict[str, float]]], sizes: tuple[int, int]) -> None:
    requests, retries = sizes
    print(
        f"\n{requests:,} requests, {requests * 10:,} entries, {retries:,} waiting webhooks, {retries:,} waiting jobs\n"
    )
    print(f"{'milliseconds':66}{'large':>10}{'small':>10}{'ratio':>8}")
    medians: list[dict[str, list[float]]] = [defaultdict(list), defaultdict(list)]
    for figures in rounds:
        for side, found in zip(medians, figures, strict=True):
            for name, milliseconds in found.items():
                side[name].append(milliseconds)
    for name in medians[0]:
        large, small = (statistics.median(side[name]) for side in medians)
        mark = "" if large / small <= _MOST else "  above 1.3"
        print(f"{name:66}{large:10.1f}{small:10.1f}{large / small:8.2f}{mark}")


if __name__ == "__main__":
    main()
