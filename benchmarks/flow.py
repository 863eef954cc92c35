"""Whole flows per second on this machine: upload, create, code, signature, seal, proof, webhook received.

    python -m benchmarks.flow [--seconds 60] [--clients 8]

A service of its own (embedded PostgreSQL, one worker process per core), and on the same machine the backend:
clients in threads of this process, and a receiver of the webhooks. Each flow uploads the demo's three-page contract,
has one person sign it by tag, and ends when ``request.completed`` has come, which is sent once the sealed file and
the proof are stored and were validated. Printed are: flows per second over the whole run and over each sixth of it,
seconds per stage as a client sees them, processor time per flow by kind of process, seconds per stage of the
workers, and the memory of each process at the beginning and at the end.
"""

import argparse
import os
import re
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from benchmarks.footprint import Footprint, footprint
from benchmarks.started_service import StartedService
from benchmarks.webhook_receiver import WebhookReceiver
from paraph_client import Client, DocumentInput, Placement, SignerInput, under_tag
from tests.contract import contract

_ORGANIZATIONS = 400  # the rate limit is per organization: 120 calls a minute in sandbox
_TAG = "{{signature:landlord}}"
_PARTS = 6
_PATIENCE_SECONDS = 60


@dataclass
class Tally:
    """Seconds per stage of every finished flow, and when it ended."""

    stages: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    ends: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, seconds: dict[str, float]) -> None:
        with self.lock:
            self.ends.append(time.perf_counter())
            for stage, spent in seconds.items():
                self.stages[stage].append(spent)


@dataclass(frozen=True)
class Run:
    tally: Tally
    began: float
    elapsed: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=8)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="paraph-bench-") as folder, WebhookReceiver() as receiver:
        service = StartedService(Path(folder))
        service.start()
        try:
            keys = _new_keys(Path(folder), receiver.url)
            _run(service.url, keys[:20], receiver, clients=arguments.clients, seconds=3)  # warm
            metrics, first = _stage_seconds(service.url), footprint(service.pid)
            run = _run(service.url, keys[20:], receiver, clients=arguments.clients, seconds=arguments.seconds)
            last, after = footprint(service.pid), _stage_seconds(service.url)
        finally:
            service.stop()
    _print(run, arguments.clients)
    _print_work(len(run.tally.ends), (first, last), (metrics, after))


def _new_keys(data_dir: Path, webhook_url: str) -> list[str]:
    os.environ |= {"PARAPH_DATA_DIR": str(data_dir), "DJANGO_SETTINGS_MODULE": "paraph.config.settings"}
    import django

    django.setup()
    from paraph.tenants.admin_log import OPERATOR
    from paraph.tenants.applications import new_application
    from paraph.tenants.organizations import create_organization

    keys = []
    for number in range(_ORGANIZATIONS):
        organization = create_organization(OPERATOR, f"Bench {number}", "free")
        keys.append(new_application(organization, "sandbox", "bench", webhook_url).api_key)
    return keys


def _run(url: str, keys: list[str], receiver: WebhookReceiver, *, clients: int, seconds: float) -> Run:
    tally, pdf = Tally(), contract()
    transport = httpx.HTTPTransport()  # one for all keys: making one takes long
    began = time.perf_counter()
    deadline = began + seconds

    def work(share: list[str]) -> None:
        sessions = [Client(url, key, transport=transport) for key in share]
        signer_session = httpx.Client(timeout=30, transport=transport)
        number = 0
        while time.perf_counter() < deadline:
            tally.add(_flow(sessions[number % len(sessions)], signer_session, receiver, pdf))
            number += 1

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(work, (keys[index::clients] for index in range(clients))))  # raises what a client raised
    return Run(tally, began, time.perf_counter() - began)


def _flow(client: Client, signer_session: httpx.Client, receiver: WebhookReceiver, pdf: bytes) -> dict[str, float]:
    marks = [time.perf_counter()]

    def lap() -> None:
        marks.append(time.perf_counter())

    document = client.upload_document(pdf, "contract.pdf")
    lap()
    request = client.create_signature_request(
        mode="parallel",
        validity_days=1,
        signers=[SignerInput("a", "Zoë", f"Lindqvist-{document.id}", f"zoe{document.id}@example.com")],
        documents=[DocumentInput(document.id, [Placement("a", [under_tag(_TAG)])])],
    )
    lap()
    url = request.signers[0].signing_url
    code = signer_session.post(f"{url}/otp", json={"channel": "email"}).raise_for_status().json()["sandbox_code"]
    lap()
    signer_session.post(f"{url}/signature", json={"code": code, "consent": True}).raise_for_status()
    lap()
    if not receiver.wait("request.completed", request.id, _PATIENCE_SECONDS):
        raise RuntimeError(f"request {request.id} was not completed within {_PATIENCE_SECONDS} s")
    lap()
    names = ("upload", "create", "code", "sign", "seal, prove, webhook")
    return {name: after - before for name, before, after in zip(names, marks[:-1], marks[1:], strict=True)}


def _stage_seconds(url: str) -> dict[str, float]:
    """Seconds of the workers so far, by stage and by job."""
    pattern = r'paraph_(stage|job)_seconds_sum\{(?:stage|task)="(\w+)"\} ([\d.e+-]+)'
    found = re.findall(pattern, httpx.get(f"{url}/metrics").raise_for_status().text)
    return {f"{kind} {name}": float(seconds) for kind, name, seconds in found}


def _print(run: Run, clients: int) -> None:
    tally, count = run.tally, len(run.tally.ends)
    total = sum(map(sum, tally.stages.values()))
    print(
        f"\nWhole flows: {count / run.elapsed:.1f} a second ({count} in {run.elapsed:.1f} s, {clients} clients at once)"
    )
    part = run.elapsed / _PARTS
    ended = [sum(index * part <= end - run.began < (index + 1) * part for end in tally.ends) for index in range(_PARTS)]
    print(f"each {part:.0f} s of it: " + "  ".join(f"{count / part:.1f}" for count in ended))
    print(f"\n{'seen by a client':<24}{'median ms':>10}{'p99 ms':>10}{'share':>8}")
    for stage, seconds in tally.stages.items():
        ordered = sorted(seconds)
        p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
        print(f"{stage:<24}{statistics.median(ordered) * 1e3:>10.0f}{p99 * 1e3:>10.0f}{sum(seconds) / total:>8.0%}")


def _print_work(
    flows: int, footprints: tuple[Footprint, Footprint], stages: tuple[dict[str, float], dict[str, float]]
) -> None:
    first, last = footprints
    spent = {kind: seconds - first.seconds.get(kind, 0) for kind, seconds in last.seconds.items()}
    print(f"\n{'process':<24}{'ms/flow':>10}{'share':>8}{'MB, first':>11}{'last':>7}")
    for kind, seconds in sorted(spent.items(), key=lambda item: -item[1]):
        memory = f"{first.megabytes.get(kind, 0):>11.0f}{last.megabytes.get(kind, 0):>7.0f}"
        print(f"{kind:<24}{seconds / flows * 1e3:>10.1f}{seconds / sum(spent.values()):>8.0%}{memory}")
    print(f"{'together':<24}{sum(spent.values()) / flows * 1e3:>10.1f}")
    print(f"\n{'in the workers':<24}{'ms/flow':>10}")
    for name, seconds in sorted(stages[1].items()):
        print(f"{name:<24}{(seconds - stages[0].get(name, 0)) / flows * 1e3:>10.1f}")


if __name__ == "__main__":
    main()
