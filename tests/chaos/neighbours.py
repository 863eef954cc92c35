"""``python -m tests.chaos.neighbours``: what others notice of a hostile tenant.

Other organizations make their requests, first in peace, then beside a tenant that attacks in every way at once; the
99th hundredth of what they wait for an answer at most doubles. The rounds take turns, so that a machine whose speed
changes does so for both.
"""

import argparse
import itertools
import math
import shutil
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.chaos.hostile import HostileTenant
from tests.cli.service import Service
from tests.pdf.papers import paper, text
from tests.scenarios.people import Backend, at, signer

_CLIENTS = 2
_ORGANIZATIONS = 40
_ROUNDS = 2  # of each kind
_MOST = 2.0  # times as long, in the 99th hundredth
_FINALIZED_SECONDS = 120


class Waits:
    """Seconds that answers took, by what was asked for."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self._lock = threading.Lock()

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        with self._lock:
            self.seconds[name].append(time.perf_counter() - began)

    def p(self, hundredth: int, name: str = "") -> float:
        """Of one kind, or of all."""
        values = sorted(self.seconds[name] if name else itertools.chain(*self.seconds.values()))
        return values[max(0, math.ceil(len(values) * hundredth / 100) - 1)]


def flow(backend: Backend, number: int, waits: Waits) -> int:
    """Uploads, creates, looks at the page and signs; returns the request. Raises ``AssertionError`` for a refusal."""
    with waits.of("upload"):
        document = backend.upload(paper(text(f"Contract {number}", 100, 700)))
    with waits.of("create"):
        made = backend.create(
            mode="parallel", validity_days=1, signers=[signer("a", email=f"a{number}@example.com")],
            documents=[{"id": document, "signers": [{"signer_ref": "a", "stamps": [at()]}]}],
        )  # fmt: skip
    url = made["signers"][0]["signing_url"]
    _asked("page", "GET", url, waits)
    _asked("picture", "GET", f"{url}/documents/{document}/pages/1.webp", waits)
    code = _asked("code", "POST", f"{url}/otp", waits, json={"channel": "email"}).json()["sandbox_code"]
    _asked("sign", "POST", f"{url}/signature", waits, json={"code": code, "consent": True})
    with waits.of("read"):
        backend.read(made["id"])
    return int(made["id"])


def _asked(name: str, method: str, url: str, waits: Waits, **what: Any) -> httpx.Response:
    with waits.of(name):
        answer = httpx.request(method, url, timeout=60, **what)
    assert answer.status_code == 200, f"{name}: {answer.status_code} {answer.text[:200]}"
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=250, help="beside the tenant, and as many in peace")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="paraph-neighbours-"))
    service = Service(folder / "data")
    service.start()
    try:
        problems = _compare(service, given.requests)
    finally:
        service.stop()
        shutil.rmtree((folder / "data" / "postgres").resolve(), ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(problems) or f"No 99th hundredth more than {_MOST:g} times as long.")
    sys.exit(1 if problems else 0)


def _compare(service: Service, requests: int) -> list[str]:
    backends = [Backend(service.base_url, service.new_application()["api_key"]) for _ in range(_ORGANIZATIONS)]
    attacker = service.new_application(plan="free")["api_key"]
    peace, beside = Waits(), Waits()
    numbers = itertools.count()
    share = math.ceil(requests / _ROUNDS)
    _round(backends, 20, numbers, Waits())  # warm
    made: list[tuple[Backend, int]] = []
    for _ in range(_ROUNDS):
        made += _round(backends, share, numbers, peace)
        hostile = HostileTenant(service.base_url, attacker)
        with hostile:
            made += _round(backends, share, numbers, beside)
        print(
            "the tenant got: " + "; ".join(f"{name}: {dict(counts)}" for name, counts in hostile.answers.items()),
            flush=True,
        )
        time.sleep(5)  # what it began is over
    began = time.monotonic()
    for backend, request in made:
        backend.finalized(request, _FINALIZED_SECONDS)
    print(f"all {len(made)} requests are finalized, the last {time.monotonic() - began:.0f} s after its signature")
    return list(_report(peace, beside))


def _round(backends: Sequence[Backend], count: int, numbers: Iterator[int], waits: Waits) -> list[tuple[Backend, int]]:
    def one(number: int) -> tuple[Backend, int]:
        backend = backends[number % len(backends)]
        return backend, flow(backend, number, waits)

    with ThreadPoolExecutor(_CLIENTS) as pool:
        return list(pool.map(one, itertools.islice(numbers, count)))


def _report(peace: Waits, beside: Waits) -> Iterator[str]:
    print(f"{'ms':10}{'peace p50':>12}{'p99':>8}{'beside p50':>12}{'p99':>8}{'ratio':>8}")
    for name in [*peace.seconds, ""]:
        before, after = peace.p(99, name), beside.p(99, name)
        figures = (peace.p(50, name), before, beside.p(50, name), after)
        p50, p99, theirs50, theirs99 = (1000 * seconds for seconds in figures)
        print(f"{name or 'all':10}{p50:12.0f}{p99:8.0f}{theirs50:12.0f}{theirs99:8.0f}{after / before:8.2f}")
    if beside.p(99) > _MOST * peace.p(99):
        yield f"The 99th hundredth of all answers takes {beside.p(99) / peace.p(99):.1f} times as long."


if __name__ == "__main__":
    main()
