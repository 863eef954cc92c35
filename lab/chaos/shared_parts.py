"""``python -m lab.chaos.shared_parts``: what all servers share fails, and the balancer takes none of them out.

Two web servers and a worker, with a bucket. First the bucket accepts connections and answers nothing for a while, as
uploads and pictures are asked for: calls that need no object are answered as before, uploads end in a 503 within the
time of a call, and what was signed meanwhile is sealed once the bucket answers. Then the certificate of the seals ends
while it is in use: both servers stay ready and take signatures, which are sealed once there is a new certificate.
"""

import argparse
import itertools
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from lab.chaos.neighbours import Waits
from tests.cli.own_postgresql import OwnPostgresql
from tests.cli.service import SMALL, Service, free_port, wait_until
from tests.keys.certified_keys import make_key, make_root
from tests.keys.odd_chains import pkcs8
from tests.pdf.pdf_factory import paper, text
from tests.scenarios.people import Backend
from tests.storage.s3_server import hanging_s3_server, variables

_ADDRESS = "127.0.0.85"  # loopback address on which no other server listens
_READY_SECONDS = 120
_UPLOADERS = 12  # over both servers: more than the threads of each that may wait for a bucket
_SLOWEST_UPLOAD = 30.0  # s: the service waits ten for an answer, and a busy machine takes its time
_SLOWEST_PROBE = 5.0  # s
_MOST = 5.0  # times the 99th percentile in peace, for calls that need no object;
_GRACE = 1.0  # s, which a busy machine may always take
_CERTIFICATE_SECONDS = 75  # from its making to its end: meanwhile the servers start
_SEALED_SECONDS = 240  # a job that failed is tried again after seconds, at most 15 minutes
_ERRORS = ("Debug source", "RetryError", "incident")


@dataclass
class Parts:
    """``servers``: their addresses. ``log``: the file that all processes write to."""

    service: Service
    log: Path
    servers: list[str] = field(default_factory=list)
    processes: "dict[str, subprocess.Popen[bytes]]" = field(default_factory=dict)

    def begin(self, name: str, command: str, **settings: str) -> None:
        with self.log.open("ab") as output:
            line = [sys.executable, "-m", "paraph", command]
            environment = self.service.environment | settings
            self.processes[name] = subprocess.Popen(line, env=environment, stdout=output, stderr=output)

    def begin_server(self) -> None:
        port = free_port()
        self.servers.append(f"http://127.0.0.1:{port}")
        self.begin(f"web {len(self.servers)}", "web", PARAPH_PORT=str(port))

    def end(self, *names: str) -> None:
        for name in names or list(self.processes):
            process = self.processes.pop(name)
            process.terminate()
            process.wait(60)

    def key(self, environment: str) -> str:
        return self.service.new_key(environment=environment)


@contextmanager
def parts(folder: Path, **settings: str) -> Iterator[Parts]:
    """Yield two web servers that are ready, and a worker, on a PostgreSQL of their own."""
    database = OwnPostgresql(_ADDRESS)
    more = {"DATABASE_URL": database.url, "PARAPH_RATE_LIMIT_FACTOR": "50", "PARAPH_DRAIN_SECONDS": "0"}
    here = Parts(Service(folder / "data", **SMALL, **more, **settings), folder / "log")
    try:
        database.create()
        done = here.service.run("migrate")
        assert done.returncode == 0, done.stderr
        here.begin_server()
        here.begin_server()
        here.begin("worker", "worker")
        for server in here.servers:
            wait_until(lambda address=server: _status(f"{address}/readyz") == 200, _READY_SECONDS)  # type: ignore[misc]
        yield here
    except BaseException:
        print(*here.log.read_text().splitlines()[-40:] if here.log.exists() else [], sep="\n")
        raise
    finally:
        here.end()
        database.remove()


def _status(address: str) -> int:
    try:
        return httpx.get(address, timeout=_READY_SECONDS).status_code
    except httpx.TransportError:
        return 0


class Asked:
    """The statuses and waits of the answers that clients got, by the name of the call."""

    def __init__(self) -> None:
        self.waits = Waits()
        self.statuses: dict[str, Counter[int]] = defaultdict(Counter)

    def ask(self, name: str, method: str, address: str, **what: object) -> int:
        with self.waits.of(name):
            try:
                status = httpx.request(method, address, timeout=_READY_SECONDS, **what).status_code  # type: ignore[arg-type]
            except httpx.TransportError:
                status = 0
        self.statuses[name][status] += 1
        return status

    def told(self, name: str) -> str:
        p50, p99, most = (1000 * self.waits.p(hundredth, name) for hundredth in (50, 99, 100))
        return f"{p50:8.0f}{p99:8.0f}{most:8.0f}  {dict(self.statuses[name])}"


def _during(seconds: float, work: dict[str, tuple[int, Callable[[], object]]]) -> None:
    """Repeat each act for ``seconds``; ``work`` has, by name, the number of its threads and the act."""
    end = time.monotonic() + seconds

    def repeat(act: Callable[[], object]) -> None:
        while time.monotonic() < end:
            act()
            time.sleep(0.05)

    with ThreadPoolExecutor(sum(count for count, _ in work.values())) as pool:
        for running in [pool.submit(repeat, act) for count, act in work.values() for _ in range(count)]:
            running.result()


def hanging_bucket(folder: Path, seconds: float) -> Iterator[str]:
    """Let the bucket hang for ``seconds``; yield a sentence for each fault."""
    with hanging_s3_server() as line, ExitStack() as stack:
        here = stack.enter_context(parts(folder, PARAPH_STORAGE_URL="s3://bucket/paraph", **variables(line.address)))
        key = here.key("sandbox")
        backend, turns = Backend(here.servers[0], key), itertools.cycle(here.servers)
        made = backend.ask("a")
        page = made["signers"][0]["signing_url"]
        path = page[page.index("/sign/") :]
        shown = backend.ask("a")["signers"][0]["signing_url"]  # another request, which nobody signs
        shown = shown[shown.index("/sign/") :]
        document = backend.call("GET", "documents").json()["data"][-1]["id"]
        picture = f"{shown}/documents/{document}/pages/1.webp"
        assert httpx.get(f"{here.servers[0]}{picture}").status_code == 200
        numbers = itertools.count()

        def upload(asked: Asked) -> None:
            file = {"file": ("a.pdf", paper(text(f"{next(numbers)}", 100, 700)), "application/pdf")}
            asked.ask("upload", "POST", f"{next(turns)}/api/v1/documents", headers={"X-Api-Key": key}, files=file)

        def others(asked: Asked) -> None:
            for name, rest in {"list": "/api/v1/documents", "page": shown, "login": "/account/login/"}.items():
                asked.ask(name, "GET", f"{next(turns)}{rest}", headers={"X-Api-Key": key}, follow_redirects=True)

        def probes(asked: Asked) -> None:
            for name in ("healthz", "readyz"):
                asked.ask(name, "GET", f"{next(turns)}/{name}")

        def round_(asked: Asked, uploaders: int) -> None:
            _during(
                seconds,
                {
                    "uploads": (uploaders, lambda: upload(asked)),
                    "others": (2, lambda: others(asked)),
                    "probes": (1, lambda: probes(asked)),
                    "pictures": (2, lambda: asked.ask("picture", "GET", f"{next(turns)}{picture}")),
                },
            )

        peace, hung = Asked(), Asked()
        round_(peace, 2)
        line.goes = "silent"
        signing = threading.Thread(target=_sign, args=(f"{here.servers[1]}{path}",))
        signing.start()
        round_(hung, _UPLOADERS)
        signing.join()
        line.goes = "on"
        began = time.monotonic()
        wait_until(lambda: _is_finalized(backend, made["id"]), _SEALED_SECONDS)
        print(f"signed meanwhile, and sealed {time.monotonic() - began:.0f} s after the bucket answered again")
        wait_until(lambda: backend.call("POST", "documents", files=_file()).status_code == 201, _READY_SECONDS)
        yield from _compare(peace, hung)
        yield from _in_log(here.log.read_text())


def _compare(peace: Asked, hung: Asked) -> Iterator[str]:
    print(f"{'ms':10}{'peace p50':>8}{'p99':>8}{'most':>8}\n{'':10}{'hung p50':>8}{'p99':>8}{'most':>8}")
    for name in peace.waits.seconds:
        print(f"{name:10}{peace.told(name)}\n{'':10}{hung.told(name)}")
    for name in ("healthz", "readyz"):
        if set(hung.statuses[name]) != {200} or hung.waits.p(100, name) > _SLOWEST_PROBE:
            yield f"{name} was answered {dict(hung.statuses[name])}, after {hung.waits.p(100, name):.1f} s at most"
    for name in ("list", "page", "login"):
        before, after = peace.waits.p(99, name), hung.waits.p(99, name)
        if set(hung.statuses[name]) != {200} or after > max(_MOST * before, _GRACE):
            yield f"{name} was answered {dict(hung.statuses[name])}, p99 {after:.1f} s, in peace {before:.1f} s"
    for name in ("upload", "picture"):
        if set(hung.statuses[name]) - {200, 201, 503} or hung.waits.p(100, name) > _SLOWEST_UPLOAD:
            yield f"{name} was answered {dict(hung.statuses[name])}, after {hung.waits.p(100, name):.1f} s at most"


def _in_log(log: str) -> Iterator[str]:
    if "the object store fails: s3://bucket/paraph did not answer within" not in log:
        yield "no line of the log names the store"
    for word in _ERRORS:
        if word in log:
            yield f"{word} stands in the log: {next(line for line in log.splitlines() if word in line)[:300]}"


def _file() -> dict[str, tuple[str, bytes, str]]:
    return {"file": ("a.pdf", paper(text("again", 100, 700)), "application/pdf")}


def _sign(page: str, code: str = "") -> None:
    """Sign as somebody does who has the signing page open; ask for a code where none is given."""
    if not code:
        answer = httpx.post(f"{page}/otp", json={"channel": "email"}, timeout=_READY_SECONDS)
        assert answer.status_code == 200, answer.text
        code = answer.json()["sandbox_code"]
    signed = httpx.post(f"{page}/signature", json={"code": code, "consent": True}, timeout=_READY_SECONDS)
    assert signed.status_code == 200, signed.text


def _is_finalized(backend: Backend, request: int) -> bool:
    answer = backend.call("GET", f"signature_requests/{request}")
    return answer.status_code == 200 and bool(answer.json()["finalized"])


def ended_certificate(folder: Path) -> Iterator[str]:
    """Let the certificate of the seals end; yield a sentence for each fault."""
    root, key = make_root(), make_key("p-256")
    (folder / "key.pem").write_bytes(pkcs8(key))
    chain = root.chain(folder, key.public_key(), days=_CERTIFICATE_SECONDS / 86400)
    ends = time.monotonic() + _CERTIFICATE_SECONDS
    settings = {
        "PARAPH_SEALING_KEY": str(folder / "key.pem"),
        "PARAPH_SEALING_CERTIFICATE": str(chain),
        "PARAPH_SEAL_LEVEL": "B-T",
    }
    with parts(folder, **settings) as here:
        backends = [Backend(server, here.key("production")) for server in here.servers]
        time.sleep(max(0.0, ends - time.monotonic()) + 1)
        made = []
        for server, backend in zip(here.servers, backends, strict=True):
            found = {name: _status(f"{server}/{name}") for name in ("healthz", "readyz", "metrics")}
            print(f"after the end: {found}")
            if set(found.values()) != {200}:
                yield f"a server answers {found} once the certificate has ended"
            asked = backend.ask("a")
            page = asked["signers"][0]["signing_url"]
            address = f"{server}{page[page.index('/sign/') :]}"
            assert httpx.post(f"{address}/otp", json={"channel": "email"}).status_code == 200
            [code] = re.findall(r"^(\d{6})", here.service.inbox()[-1]["subject"])
            _sign(address, code)
            made.append((backend, asked["id"]))
        print("both servers took an upload, a request, a code and a signature")
        line = 'paraph_check{line="sealing"} 2.0'
        wait_until(lambda: line in httpx.get(f"{here.servers[0]}/metrics", timeout=60).text, _READY_SECONDS)
        age = re.search(r"^paraph_unsealed_age_seconds (\S+)", httpx.get(f"{here.servers[0]}/metrics").text, re.M)
        print(f"the figures say that sealing fails, and that a request waits for {float(age[1]) if age else -1:.0f} s")
        if any(_is_finalized(*each) for each in made):
            yield "a request was sealed with a certificate that has ended"
        root.chain(folder, key.public_key())
        here.end("worker")
        here.begin("worker", "worker")
        began = time.monotonic()
        wait_until(lambda: all(_is_finalized(*each) for each in made), _SEALED_SECONDS)
        print(f"with a new certificate, both were sealed {time.monotonic() - began:.0f} s after the worker's start")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=40, help="that the bucket hangs, and as many before, in peace")
    given = parser.parse_args()
    problems: list[str] = []
    for name, act in {
        "a bucket that hangs": lambda folder: hanging_bucket(folder, given.seconds),
        "a certificate that has ended": ended_certificate,
    }.items():
        folder = Path(tempfile.mkdtemp(prefix="paraph-shared-"))
        try:
            print(f"{name}:", flush=True)
            problems += act(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(["wrong:", *problems]) if problems else "wrong: nothing")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
