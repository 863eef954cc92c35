"""The API beside the least that any Django view could do: requests a second, their ratio, and how long they take.

    python -m benchmarks.api [--seconds 1] [--rounds 15] [--connections 16] [--only get|post|upload]

Both sides run on one PostgreSQL, under granian with the same settings, and answer the same number of connections of
``wrk``, in short turns that each side begins as often: a machine of others is twice as fast in one minute as in the
next. The calls are those of eight organizations in turn. The ratio is the median of those of all turns. The bare views
(benchmarks/bare) know no key, no limit, no tenant and no check:

- ``get``: one statement, and the bytes that ``GET /signature_requests/{id}`` answers. At least 1/2.
- ``post``: the rows of ``POST /signature_requests``, in one transaction: one document of three pages, two signers, a
  stamp under a tag and one by coordinates, the invitation's job. At least 1/3.
- ``upload``: the SHA-256 of a PDF of 20 pages and 1.1 MB, and the file written to the store. At least 1/2.
"""

import argparse
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from benchmarks.seal_files import make
from paraph.postgres import Server
from tests.contract import contract

_FLOORS = {"get": 1 / 2, "post": 1 / 3, "upload": 1 / 2}
_ORGANIZATIONS = 8  # one alone never has more than half of the places for expensive work
_SCRIPT = """
local calls, last = {{}}, 0
local function read(name) return io.open(name, "rb"):read("*a") end
function init()
{prepared}
end
function request()
    last = last % #calls + 1
    return calls[last]
end
"""
_BOUNDARY = "paraph-benchmark-boundary"


@dataclass(frozen=True)
class Call:
    """What wrk sends, the same to both sides."""

    path: str
    method: str
    body: bytes
    headers: dict[str, str]


@dataclass(frozen=True)
class Measured:
    """Requests a second, and milliseconds."""

    rate: float
    median: float
    slowest: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--only", choices=list(_FLOORS))
    arguments = parser.parse_args()
    if not shutil.which("wrk"):
        sys.exit("The benchmark of the API needs the program wrk (Debian and Ubuntu: apt-get install wrk).")
    with tempfile.TemporaryDirectory(prefix="paraph-bench-") as folder, _services(Path(folder)) as (ours, bare, keys):
        calls = [_calls(ours, key, Path(folder)) for key in keys]
        print(f"{'':8}{'':8}{'requests/s':>12}{'p50 ms':>9}{'p99 ms':>9}{'ratio':>8}")
        for name in [arguments.only] if arguments.only else list(_FLOORS):
            _compare(name, [each[name] for each in calls], (ours, bare), Path(folder), arguments)


@contextmanager
def _services(folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    """The addresses of Paraph and of the bare views, and an API key of each organization."""
    os.environ |= {
        "PARAPH_DATA_DIR": str(folder),
        "PARAPH_RATE_LIMIT_FACTOR": "1000000",
        "PARAPH_SANDBOX_STORAGE_MB": "1000000",
        "DJANGO_SETTINGS_MODULE": "paraph.config.settings",
    }
    server, processes = Server(folder), list[subprocess.Popen[bytes]]()
    server.start()
    try:
        keys = _new_keys()
        urls = []
        for module in ("paraph", "benchmarks.bare"):
            port = _free_port()
            urls.append(f"http://127.0.0.1:{port}")
            with (folder / f"{module}.log").open("wb") as log:
                command = [sys.executable, "-m", module, "web", "--port", str(port)]
                processes.append(subprocess.Popen(command, stdout=log, stderr=log))
            _wait(urls[-1], folder / f"{module}.log")
        yield urls[0], urls[1], keys
    finally:
        for process in processes:
            process.terminate()
            process.wait()
        server.stop()
        shutil.rmtree((folder / "postgres").resolve(), ignore_errors=True)  # as root it lies behind a link


def _new_keys() -> list[str]:
    import django

    django.setup()
    from django.db import connections

    from paraph.database.migrations import migrate
    from paraph.tenants.admin_log import OPERATOR
    from paraph.tenants.applications import create_application
    from paraph.tenants.organizations import create_organization

    migrate()
    made = [create_organization(OPERATOR, f"Bench {number}", "pro") for number in range(_ORGANIZATIONS)]
    keys = [create_application(each.pk, OPERATOR, environment="sandbox", name="bench").api_key for each in made]
    connections.close_all()
    return keys


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(url: str, log: Path) -> None:
    for _ in range(600):
        try:
            httpx.get(f"{url}/healthz", timeout=2)
            return
        except httpx.HTTPError:
            time.sleep(0.1)
    sys.exit(f"A server did not start:\n{log.read_text()}")


def _calls(url: str, key: str, folder: Path) -> dict[str, Call]:
    """What is sent; the request that ``get`` reads is made here, and its answer left for the bare view."""
    small, large = _multipart(contract()), _multipart(make("b"))
    form = {"X-Api-Key": key, "Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"}
    document = _made(httpx.post(f"{url}/api/v1/documents", content=small, headers=form))
    body = json.dumps({"signature_request": _payload(document["id"])}).encode()
    typed = {"X-Api-Key": key, "Content-Type": "application/json"}
    request = _made(httpx.post(f"{url}/api/v1/signature_requests", content=body, headers=typed))
    path = f"/api/v1/signature_requests/{request['id']}"
    answer = httpx.get(url + path, headers=typed).raise_for_status()
    (folder / "answer.json").write_bytes(answer.content)
    return {
        "get": Call(path, "GET", b"", typed),
        "post": Call("/api/v1/signature_requests", "POST", body, typed),
        "upload": Call("/api/v1/documents", "POST", large, form),
    }


def _made(response: httpx.Response) -> Any:
    if response.status_code != httpx.codes.CREATED:
        sys.exit(response.text)
    return response.json()


def _payload(document_id: int) -> dict[str, Any]:
    tag = {"type": "magic_field", "value": {"tag": "{{signature:landlord}}"}}
    rectangle = {"type": "coordinates", "value": {"page_number": 2, "x": 100, "y": 100}}
    return {
        "mode": "sequential",
        "validity_days": 30,
        "send_email": True,
        "identity_declaration_accepted": True,
        "signers": [
            {"ref": "a", "first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com", "order": 1},
            {"ref": "b", "first_name": "Grace", "last_name": "Hopper", "email": "grace@example.com", "order": 2},
        ],
        "documents": [
            {
                "id": document_id,
                "signers": [{"signer_ref": "a", "stamps": [tag]}, {"signer_ref": "b", "stamps": [rectangle]}],
            }
        ],
    }


def _multipart(pdf: bytes) -> bytes:
    head = 'Content-Disposition: form-data; name="file"; filename="contract.pdf"\r\nContent-Type: application/pdf'
    return f"--{_BOUNDARY}\r\n{head}\r\n\r\n".encode() + pdf + f"\r\n--{_BOUNDARY}--\r\n".encode()


def _compare(name: str, calls: list[Call], urls: tuple[str, str], folder: Path, arguments: argparse.Namespace) -> None:
    script, path = _script(name, calls, folder), calls[0].path
    for url in urls:
        _run(url + path, script, 2, arguments.connections)  # warm
    rounds: list[list[Measured]] = [[], []]
    for number in range(arguments.rounds):
        for side in (0, 1) if number % 2 else (1, 0):
            rounds[side].append(_run(urls[side] + path, script, arguments.seconds, arguments.connections))
    ours, bare = map(_middle, rounds)
    ratio = statistics.median(our.rate / other.rate for our, other in zip(*rounds, strict=True))
    print(f"{name:8}{'bare':8}{bare.rate:12.0f}{bare.median:9.1f}{bare.slowest:9.1f}")
    beside = f"{ratio:8.2f}   (at least {_FLOORS[name]:.2f})"
    print(f"{'':8}{'Paraph':8}{ours.rate:12.0f}{ours.median:9.1f}{ours.slowest:9.1f}{beside}", flush=True)


def _script(name: str, calls: list[Call], folder: Path) -> Path:
    lines = []
    for number, call in enumerate(calls):
        body = folder / f"{name}.{number}.body"
        body.write_bytes(call.body)
        headers = ", ".join(f'["{name}"] = "{value}"' for name, value in call.headers.items())
        lines.append(f'calls[{number + 1}] = wrk.format("{call.method}", "{call.path}", {{{headers}}}, read("{body}"))')
    script = folder / f"{name}.lua"
    script.write_text(_SCRIPT.format(prepared="\n".join(lines)))
    return script


def _run(url: str, script: Path, seconds: int, connections: int) -> Measured:
    """Ends the benchmark when an answer is no 2xx: a refusal is quick."""
    command = ["wrk", "-t2", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s", "--latency", "-s", str(script)]
    said = subprocess.run([*command, url], capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        sys.exit(f"{url} refused:\n{said}")
    rate = float(re.findall(r"Requests/sec:\s+([\d.]+)", said)[0])
    return Measured(rate, _milliseconds(said, "50"), _milliseconds(said, "99"))


def _milliseconds(said: str, percentile: str) -> float:
    number, unit = re.findall(rf"{percentile}%\s+([\d.]+)(us|ms|s)\b", said)[0]
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


def _middle(rounds: list[Measured]) -> Measured:
    return Measured(*(statistics.median(values) for values in zip(*map(_values, rounds), strict=True)))


def _values(measured: Measured) -> tuple[float, float, float]:
    return measured.rate, measured.median, measured.slowest


if __name__ == "__main__":
    main()
