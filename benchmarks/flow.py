"""Whole flows per second on this machine: upload, create, code, signature, seal, proof, ``finalized``.

    python -m benchmarks.flow [--seconds 20] [--clients 6]

A service of its own (embedded PostgreSQL, one worker process per core), clients in threads of this process on the
same machine. Each flow uploads the demo's three-page contract and has one person sign it by tag. Stages are seen
from the client; ``finalize`` is the wait from the signature to ``finalized`` and so contains the queue.
"""

import argparse
import os
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from paraph.cli.demo.contract import contract
from paraph.cli.demo.service import DemoService
from paraph_client import Client, DocumentInput, Placement, SignerInput, under_tag

_ORGANIZATIONS = 200  # the rate limit is per organization: 120 calls a minute in sandbox
_TAG = "{{signature:landlord}}"


class Tally:
    """Seconds per stage of every finished flow."""

    def __init__(self) -> None:
        self.stages: dict[str, list[float]] = defaultdict(list)
        self.finished = 0
        self._lock = threading.Lock()

    def add(self, seconds: dict[str, float]) -> None:
        with self._lock:
            self.finished += 1
            for stage, spent in seconds.items():
                self.stages[stage].append(spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--clients", type=int, default=6)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="paraph-bench-") as folder:
        service = DemoService(Path(folder))
        service.start()
        try:
            keys = _new_keys(Path(folder))
            _run(service.url, keys[:2], clients=1, seconds=2)  # warm
            tally, elapsed = _run(service.url, keys[2:], clients=arguments.clients, seconds=arguments.seconds)
        finally:
            service.stop()
    _print(tally, elapsed, arguments.clients)


def _new_keys(data_dir: Path) -> list[str]:
    os.environ |= {"PARAPH_DATA_DIR": str(data_dir), "DJANGO_SETTINGS_MODULE": "paraph.config.settings"}
    import django

    django.setup()
    from paraph.organizations.registration import create_application, create_organization

    keys = []
    for number in range(_ORGANIZATIONS):
        organization = create_organization(f"Bench {number}", "free")
        keys.append(create_application(organization.id, "sandbox", "bench").api_key)
    return keys


def _run(url: str, keys: list[str], *, clients: int, seconds: float) -> tuple[Tally, float]:
    tally, pdf = Tally(), contract()
    transport = httpx.HTTPTransport()  # one for all keys: making one takes long
    began = time.perf_counter()
    deadline = began + seconds

    def work(share: list[str]) -> None:
        sessions = [Client(url, key, transport=transport) for key in share]
        signer_session = httpx.Client(timeout=30, transport=transport)
        number = 0
        while time.perf_counter() < deadline:
            tally.add(_flow(sessions[number % len(sessions)], signer_session, pdf))
            number += 1

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(work, (keys[index::clients] for index in range(clients))))  # raises what a client raised
    return tally, time.perf_counter() - began


def _flow(client: Client, signer_session: httpx.Client, pdf: bytes) -> dict[str, float]:
    marks = [time.perf_counter()]

    def lap() -> None:
        marks.append(time.perf_counter())

    document = client.upload_document(pdf, "contract.pdf")
    lap()
    request = client.create_signature_request(
        mode="parallel",
        validity_days=1,
        signers=[SignerInput("a", "Zoë", "Lindqvist", "zoe@example.com")],
        documents=[DocumentInput(document.id, [Placement("a", [under_tag(_TAG)])])],
    )
    lap()
    url = request.signers[0].signing_url
    code = signer_session.post(f"{url}/otp", json={"channel": "email"}).raise_for_status().json()["sandbox_code"]
    lap()
    signer_session.post(f"{url}/signature", json={"code": code, "consent": True}).raise_for_status()
    lap()
    while not client.signature_request(request.id).finalized:
        time.sleep(0.05)
    lap()
    names = ("upload", "create", "code", "sign", "finalize")
    return {name: after - before for name, before, after in zip(names, marks[:-1], marks[1:], strict=True)}


def _print(tally: Tally, elapsed: float, clients: int) -> None:
    total = sum(map(sum, tally.stages.values()))
    print(
        f"\nWhole flows: {tally.finished / elapsed:.1f} a second "
        f"({tally.finished} in {elapsed:.1f} s, {clients} clients at once)"
    )
    print(f"{'stage':<10}{'median ms':>10}{'p99 ms':>10}{'share':>8}")
    for stage, seconds in tally.stages.items():
        ordered = sorted(seconds)
        p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
        print(f"{stage:<10}{statistics.median(ordered) * 1e3:>10.0f}{p99 * 1e3:>10.0f}{sum(seconds) / total:>8.0%}")


if __name__ == "__main__":
    main()
