"""``python -m lab.chaos.neighbours``: what others notice of a hostile tenant.

Other organizations make their requests, first in peace, then beside a tenant that attacks in every way at once; the
99th percentile of their waits at most trebles, and the service hangs up on nobody, the tenant included. The rounds
alternate, so that a change in the speed of the machine affects both kinds. The attacker's own process runs only when
the processors are idle (:func:`lab.chaos.hostile.come_last`), because a real attacker would use another machine.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from lab.chaos.hostile import HostileKeys, HostileTenant, unanswered
from tests.cli.service import Service
from tests.pdf.pdf_factory import paper, text
from tests.scenarios.people import at, signer

_CLIENTS = 2
_ORGANIZATIONS = 6
_ROUNDS = 2  # in peace, and as many beside the tenant
_FINALIZED_SECONDS = 120
_CALM_SECONDS = 10  # after which no attack is still at work
_CLIENT = httpx.Client(timeout=60)  # shared, so that connections are kept: to set one up takes longer than a call


class Waits:
    """The seconds that answers took, by the name of the call."""

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
        """Return the percentile ``hundredth`` of the seconds of the calls ``name``, or of all calls."""
        values = sorted(self.seconds[name] if name else itertools.chain(*self.seconds.values()))
        return values[max(0, math.ceil(len(values) * hundredth / 100) - 1)]


@dataclass(frozen=True)
class Neighbour:
    """An organization with its key, and the requests that it makes."""

    api: str
    key: str

    def flow(self, number: int, waits: Waits) -> int:
        """Upload a document, create a request, look at the signing page and sign; return the id of the request."""
        file = {"file": ("a.pdf", paper(text(f"Contract {number}", 100, 700)), "application/pdf")}
        document = self._asked("upload", "POST", "documents", waits, files=file).json()["id"]
        fields = {
            "mode": "parallel",
            "validity_days": 1,
            "signers": [signer("a", email=f"a{number}@example.com")],
            "documents": [{"id": document, "signers": [{"signer_ref": "a", "stamps": [at()]}]}],
        }
        created = self._asked("create", "POST", "signature_requests", waits, json={"signature_request": fields})
        made = created.json()
        url = made["signers"][0]["signing_url"]
        _answered("page", "GET", url, waits)
        _answered("picture", "GET", f"{url}/documents/{document}/pages/1.webp", waits)
        code = _answered("code", "POST", f"{url}/otp", waits, json={"channel": "email"}).json()["sandbox_code"]
        _answered("sign", "POST", f"{url}/signature", waits, json={"code": code, "consent": True})
        self._asked("read", "GET", f"signature_requests/{made['id']}", waits)
        return int(made["id"])

    def is_finalized(self, request: int) -> bool:
        answer = _CLIENT.get(f"{self.api}/signature_requests/{request}", headers={"X-Api-Key": self.key})
        return bool(answer.json()["finalized"])

    def _asked(self, name: str, method: str, path: str, waits: Waits, **what: Any) -> httpx.Response:
        return _answered(name, method, f"{self.api}/{path}", waits, headers={"X-Api-Key": self.key}, **what)


def _answered(name: str, method: str, url: str, waits: Waits, **what: Any) -> httpx.Response:
    """Repeat a call for as long as the service is too busy for it, as real clients do; the wait includes all tries."""
    with waits.of(name):
        while (answer := _CLIENT.request(method, url, **what)).status_code == 503:
            time.sleep(float(answer.headers["Retry-After"]))
    assert answer.status_code in (200, 201), f"{name}: {answer.status_code} {answer.text[:200]}"
    return answer


_Made = tuple[Neighbour, int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=250, help="beside the tenant, and as many in peace")
    parser.add_argument("--attacks", nargs="+", default=[""], help="parts of the names of those to be made; all")
    parser.add_argument("--most", type=float, default=3.0, help="times as long, in the 99th hundredth")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="paraph-neighbours-"))
    service = Service(folder / "data", PARAPH_RATE_LIMIT_FACTOR="20")
    service.start()
    try:
        problems = _compare(service, given.requests, given.attacks, given.most)
    finally:
        service.stop()
        shutil.rmtree((folder / "data" / "postgres").resolve(), ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(problems) or f"No 99th hundredth more than {given.most:g} times as long.")
    sys.exit(1 if problems else 0)


def _compare(service: Service, requests: int, attacks: Sequence[str], most: float) -> list[str]:
    api = f"{service.base_url}/api/v1"
    neighbours = [Neighbour(api, service.new_key()) for _ in range(_ORGANIZATIONS)]
    attacker = _hostile_keys(service)
    peace, beside = Waits(), Waits()
    numbers = itertools.count()
    problems: list[str] = []
    share = math.ceil(requests / _ROUNDS)
    made = _round(neighbours, 20, numbers, Waits())  # to warm up
    for _ in range(_ROUNDS):
        began = time.monotonic()
        made += _round(neighbours, share, numbers, peace)
        print(f"{share} requests in peace: {time.monotonic() - began:.0f} s", flush=True)
        with (hostile := HostileTenant(service.base_url, attacker, attacks)):
            began = time.monotonic()
            made += _round(neighbours, share, numbers, beside)
            print(f"{share} beside the tenant: {time.monotonic() - began:.0f} s", flush=True)
        problems += unanswered(hostile.answers)
        told = "; ".join(f"{name}: {dict(counts)}" for name, counts in hostile.answers.items())
        print(f"the tenant got: {told}", flush=True)
        time.sleep(_CALM_SECONDS)
    began = time.monotonic()
    while not all(neighbour.is_finalized(request) for neighbour, request in made):
        assert time.monotonic() < began + _FINALIZED_SECONDS, "not all of their requests were finalized"
        time.sleep(1)
    print(f"all {len(made)} requests are finalized")
    return [*problems, *_report(peace, beside, most)]


def _hostile_keys(service: Service) -> HostileKeys:
    """Return the keys of a new organization on the plan that allows the most."""
    sandbox = service.new_application(plan="enterprise")
    of_it = ["--organization", str(sandbox["organization_id"])]
    production = service.command("application", "create", *of_it, "--environment", "production", "--name", "program")
    email, password = "hostile@example.com", "a long enough phrase"
    options = ["member", "create", *of_it, "--email", email, "--role", "member", "--password-stdin"]
    service.run(*options, given=password).check_returncode()
    return HostileKeys(sandbox["organization_id"], sandbox["api_key"], production["api_key"], email, password)


def _round(neighbours: Sequence[Neighbour], count: int, numbers: Iterator[int], waits: Waits) -> list[_Made]:
    def one(number: int) -> _Made:
        neighbour = neighbours[number % len(neighbours)]
        return neighbour, neighbour.flow(number, waits)

    with ThreadPoolExecutor(_CLIENTS) as pool:
        return list(pool.map(one, itertools.islice(numbers, count)))


def _report(peace: Waits, beside: Waits, most: float) -> Iterator[str]:
    print(f"{'ms':10}{'peace p50':>12}{'p99':>8}{'beside p50':>12}{'p99':>8}{'most':>8}{'ratio':>8}")
    for name in [*peace.seconds, ""]:
        before, after = peace.p(99, name), beside.p(99, name)
        figures = (peace.p(50, name), before, beside.p(50, name), after)
        p50, p99, theirs50, theirs99 = (1000 * seconds for seconds in figures)
        told = f"{name or 'all':10}{p50:12.0f}{p99:8.0f}{theirs50:12.0f}{theirs99:8.0f}"
        print(f"{told}{1000 * beside.p(100, name):8.0f}{after / before:8.2f}")
    if beside.p(99) > most * peace.p(99):
        yield f"The 99th hundredth of all answers takes {beside.p(99) / peace.p(99):.1f} times as long."


if __name__ == "__main__":
    main()
