"""``python -m tests.chaos.run``: the service among faults, and what was lost in the end."""

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.chaos.client import Client
from tests.chaos.faults import Faults
from tests.chaos.world import World, world
from tests.cli.service import Service, clean_environment

EVENTS = {"signer.otp_sent", "signer.signed", "request.completed"}
_CLIENTS = 6


@dataclass
class Report:
    """``problems``: what was lost or done twice; empty is the aim. ``repeated_mails`` left the service twice under
    one Message-ID: it was killed between the mail server's answer and its own note of it."""

    seed: int
    requests: int
    faults: Counter[str]
    seconds: float
    repeated_mails: int = 0
    problems: list[str] = field(default_factory=list)


def chaos(folder: Path, *, seed: int, requests: int, seconds: float, pause: float) -> Report:
    """Faults for as long as requests are made, then quiet, until everything is done or ``seconds`` are over."""
    began = time.monotonic()
    with world(folder) as around:
        service = Service(folder / "data", PARAPH_WORKER_PROCESSES="2", PARAPH_WEB_PROCESSES="2", **around.settings)
        service.start()
        try:
            client = Client(service.base_url, _key(service, around), around, began + seconds)
            faults = Faults(service, around, seed, pause)
            faults.start()
            with ThreadPoolExecutor(_CLIENTS) as pool:
                made = list(pool.map(client.flow, range(requests)))
            faults.stop()
            print(f"{requests} requests signed after {time.monotonic() - began:.0f} s", flush=True)
            report = Report(seed, requests, faults.injected, 0)
            _settle(service, client, made, began + seconds)
            _judge(service, around, made, report)
            report.seconds = time.monotonic() - began
            return report
        finally:
            service.stop()
            shutil.rmtree((folder / "data" / "postgres").resolve(), ignore_errors=True)


def _key(service: Service, around: World) -> str:
    organization = str(service.command("organization", "create", "Acme", "--plan", "enterprise")["id"])
    options = ["--organization", organization, "--environment", "production", "--name", "backend"]
    return str(service.command("application", "create", *options, "--webhook-url", around.hooks.url())["api_key"])


def _settle(service: Service, client: Client, made: list[dict[str, Any]], deadline: float) -> None:
    """Waits; then webhooks that wait for their retry, minutes away, are sent now, as an operator would."""
    for request in made:
        while not client.status(request["id"])["finalized"] and time.monotonic() < deadline:
            time.sleep(0.3)
    while time.monotonic() < deadline:
        waiting = [found for found in service.command("webhook", "list", "--limit", "10000") if _is_waiting(found)]
        if not waiting:
            return
        for found in waiting:
            if found["attempts"]:
                service.command("webhook", "replay", str(found["id"]))
        time.sleep(1)


def _is_waiting(delivery: dict[str, Any]) -> bool:
    return delivery["status"] not in ("delivered", "failed")


def _judge(service: Service, around: World, made: list[dict[str, Any]], report: Report) -> None:
    heard: dict[int, set[str]] = {}
    for hook in around.hooks.received:
        body = json.loads(hook.body)
        heard.setdefault(body["signature_request"]["id"], set()).add(body["event"])
    for request, state in zip(made, _states(service, made), strict=True):
        events = Counter(entry["event_type"] for entry in state["journal"])
        expected = {"signer.signed", "request.completed", "signature_request.pades_signed"}
        expected |= {"signature_request.certificate_issued", "request.completion_notified"}
        wrong = {event: events[event] for event in expected if events[event] != 1}
        lost = EVENTS - heard.get(request["id"], set())
        for problem in (
            "" if state["finalized"] else f"not finalized: {state['why']}",
            f"journal counts {wrong}" if wrong else "",
            f"journal broken at {state['journal_broken_at']}" if state["journal_broken_at"] else "",
            f"webhooks never heard: {sorted(lost)}" if lost else "",
        ):
            if problem:
                report.problems.append(f"request {request['id']}: {problem}")
    _judge_mails(around, made, report)


def _states(service: Service, made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    numbers = [str(request["id"]) for request in made]
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos.states", *numbers],
        env=clean_environment(service.data_dir),
        cwd=Path(__file__).parents[2],
        capture_output=True,
        check=True,
    )
    states: list[dict[str, Any]] = json.loads(done.stdout)
    return states


def _judge_mails(around: World, made: list[dict[str, Any]], report: Report) -> None:
    for request in made:
        signer = request["signers"][0]
        named = Counter(name for name in around.mail.taken.get(signer["email"], []) if name.startswith("<"))
        report.repeated_mails += sum(count - 1 for count in named.values())
        if not any(f"completion-{signer['id']}@" in name for name in named):
            report.problems.append(f"request {request['id']}: no mail about its completion")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--pause", type=float, default=3, help="seconds between faults, on average")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    given = parser.parse_args()
    print(f"seed {given.seed}")
    folder = Path(tempfile.mkdtemp(prefix="paraph-chaos-"))
    try:
        report = chaos(folder, seed=given.seed, requests=given.requests, seconds=given.seconds, pause=given.pause)
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
