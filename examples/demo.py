"""The whole job over HTTP: upload, two signers, seal, proof, webhooks, and the verdict on what comes back.

``make demo`` runs it against a service that it starts itself; with --url and --key it tries one that runs already.
"""

import argparse
import hashlib
import json
import math
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pypdfium2
import typst

from paraph_client import (
    Client,
    DocumentInput,
    InvalidSignatureError,
    ParaphError,
    Placement,
    SignatureRequest,
    SignerInput,
    Stamp,
    at,
    under_tag,
    verify_webhook,
)

PARAPH = [sys.executable, "-m", "paraph"]
# The settings of a service that this machine may run name databases, stores and gateways that are left alone.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("PARAPH_", "DATABASE_URL"))}
SIGNERS = [
    SignerInput("landlord", "Zoë", "Lindqvist", "zoe@example.com", 1),
    SignerInput("tenant", "Νίκος", "Παπαδόπουλος", "nikos@example.com", 2),
]
START_SECONDS, FINALIZE_SECONDS = 600, 300  # on a busy machine
seconds: dict[str, float] = {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pdf", type=argparse.FileType("rb"), help="a PDF of your own")
    parser.add_argument("--out", type=Path, default=Path("demo-output"))
    parser.add_argument("--url", help="address of a service that runs already")
    parser.add_argument("--key", help="a sandbox key of that service")
    parser.add_argument("--email", help="address that its mails to both signers go to")
    parser.add_argument("--root", type=Path, action="append", default=[], help="PEM file that its seals must chain to")
    asked = parser.parse_args()
    if bool(asked.url) != bool(asked.key) or ((asked.email or asked.root) and not asked.url):
        parser.error("--url and --key go together, and --email and --root with them.")
    try:
        elsewhere(asked) if asked.url else on_a_service_of_its_own(asked)
    except ParaphError as error:
        sys.exit(f"Error: {error}")


def on_a_service_of_its_own(asked: argparse.Namespace) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="paraph-demo-") as folder,
        webhook_receiver() as (heard, webhook_url),
        service(Path(folder)) as url,
    ):
        with stage("make an organization and a sandbox application", "set_up"):
            organization = operate(folder, "organization", "create", "Demo", "--plan", "free")["id"]
            options = ["--organization", str(organization), "--environment", "sandbox", "--name", "Demo"]
            made = operate(folder, "application", "create", *options, "--webhook-url", webhook_url)
        request_id, files, journal = walk(url, made["api_key"], asked, heard)
        root = Path(folder, "keys/development/root.pem").read_bytes()
    files |= {"webhooks.jsonl": "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in heard).encode()}
    write(asked.out, files | {"roots.pem": root})
    command = ["verify", *(str(asked.out / name) for name in ("proof.pdf", "signed.pdf", "uploaded.pdf"))]
    command += ["--root", str(asked.out / "roots.pem")]
    with stage("verify the sealed PDF and the proof", "verify"):
        verdict, problems = verified(command)
        for name in ("signed.pdf", "proof.pdf"):
            found = json.loads(paraph("verify", str(asked.out / name), "--json", *command[-2:]).stdout)
            problems += [f"{name} carries no timestamp"] if found["ok"] and not found["timestamp"] else []
        problems += journal + webhook_problems(heard, made["webhook_secret"])
    report(asked.out, request_id, [*files, "roots.pem"], problems)
    print(shlex.join(["paraph", *command]), verdict, sep="\n", end="")


def elsewhere(asked: argparse.Namespace) -> None:
    """Webhooks go where that application says, and are not heard here."""
    url = asked.url.rstrip("/")
    try:
        with stage(f"ask {url} which environment the key is of", "health"), Client(url, asked.key) as client:
            environment = client.health().environment
        if environment != "sandbox":
            sys.exit(f"Error: The key is of {environment}: the demo signs in the sandbox alone.")
        request_id, files, problems = walk(url, asked.key, asked, None)
    except httpx.HTTPError as error:
        sys.exit(f"Error: {url} does not answer as a Paraph does: {error}.")
    write(asked.out, files)
    pdfs = [str(asked.out / name) for name in ("signed.pdf", "proof.pdf", "uploaded.pdf")]
    with stage("verify the sealed PDF and the proof", "verify"):
        if asked.root:
            roots = [option for root in asked.root for option in ("--root", str(root))]
            problems = verified(["verify", *pdfs, *roots])[1] + problems
        for path in [] if asked.root else pdfs[:2]:
            found = json.loads(paraph("verify", path, "--json").stdout)
            if not (found["intact"] and found["covers_whole_file"]) or found["altered"]:
                problems.append(f"the seal of {Path(path).name} does not hold: {' '.join(found['findings'])}")
    report(asked.out, request_id, list(files), problems)
    print("Everything matches." if asked.root else "Everything is intact. Who sealed it is judged with --root only.")


def walk(
    url: str, key: str, asked: argparse.Namespace, heard: list[dict[str, str]] | None
) -> tuple[int, dict[str, bytes], list[str]]:
    """Upload a PDF, create a request, sign it with one-time codes, wait until it is finalized, download. Return the
    request's id, the files, and what the journal says otherwise."""
    name = Path(asked.pdf.name).name if asked.pdf else "contract.pdf"
    typesetting = Path(__file__).with_name("contract.typ")
    pdf = asked.pdf.read() if asked.pdf else typst.compile(typesetting, format="pdf", ignore_system_fonts=True)
    signers = [
        SignerInput(each.ref, each.first_name, each.last_name, asked.email or each.email, each.order)
        for each in SIGNERS
    ]
    with Client(url, key) as client:
        with stage(f"upload {name} ({len(pdf):,} bytes)", "upload"):
            document = client.upload_document(pdf, name)
        with stage("create the signature request", "create"):
            stamps = foot_of_last_page(pdf) if asked.pdf else [under_tag("{{signature:landlord}}"), at(3, 316, 500)]
            placed = [Placement(signer.ref, [stamp]) for signer, stamp in zip(signers, stamps, strict=True)]
            request = client.create_signature_request(
                mode="sequential", validity_days=7, signers=signers, documents=[DocumentInput(document.id, placed)]
            )
        for given, signer in zip(signers, request.signers, strict=True):
            with stage(f"{signer.full_name} signs with a one-time code", f"sign_{given.ref}"):
                code = posted(f"{signer.signing_url}/otp", {"channel": "email"})["sandbox_code"]
                drawn = given.ref == "landlord"
                signature = {"type": "drawn", "strokes": flourish()} if drawn else {"type": "typed"}
                body = {"code": code, "consent": True, "signature": signature, "locale": "en"}
                posted(f"{signer.signing_url}/signature", body)
        with stage("seal the PDF and issue the proof", "finalize"):
            urls = finalized(client, request.id, heard).download_urls[0]
        with stage("download", "download"):
            signed, proof = client.download(urls.signed_url), client.download(urls.certificate_url)
            audit = [
                vars(entry) | {"created_at": iso(entry.created_at)} for entry in client.iter_audit_logs(request.id)
            ]
    stated: dict[str, str] = {}
    for entry in audit:
        stated |= entry["metadata"]
    wrong = [
        f"the journal's {digest} is not the digest of the downloaded file"
        for digest, content in (("signed_pdf_sha256", signed), ("certificate_sha256", proof))
        if stated.get(digest) != sha256(content)
    ]
    return (
        request.id,
        {"uploaded.pdf": pdf, "signed.pdf": signed, "proof.pdf": proof, "audit.json": as_json(audit)},
        wrong,
    )


def foot_of_last_page(pdf: bytes) -> list[Stamp]:
    """Place the first signer's stamp on the left and the second's on the right, in points of the displayed page."""
    with pypdfium2.PdfDocument(pdf) as document:
        count = len(document)
        page_width, page_height = document[count - 1].get_size()
    width, height = min(200.0, max(80.0, page_width / 2 - 30)), min(80.0, max(30.0, page_height / 3))
    y = 90.0 if page_height > 250 else 5.0
    return [at(count, x, y, width, height) for x in (20.0, page_width - width - 20)]


def flourish() -> list[list[list[float]]]:
    """Strokes of a drawn signature in 0..1, about three times as wide as high: narrowing loops and an underline."""
    loops, underline = [step / 240 for step in range(241)], [step / 30 for step in range(31)]
    return [
        [[0.05 + 0.8 * t + 0.04 * math.sin(40 * t), 0.16 - (0.13 - 0.09 * t) * math.cos(40 * t + 0.5)] for t in loops],
        [[0.03 + 0.94 * t, 0.33 - 0.04 * t - 0.02 * math.sin(5 * t)] for t in underline],
    ]


def posted(url: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of a successful answer. Any other ends the demo with the service's own sentence."""
    answer = httpx.post(url, json=body, timeout=60)
    content: dict[str, Any] = answer.json()
    if answer.is_error:
        sys.exit(f"Error: POST /sign/…: {content['error']['message']}")
    return content


def finalized(client: Client, request_id: int, heard: list[dict[str, str]] | None) -> SignatureRequest:
    """Wait for ``request.completed``, sent once files can be downloaded; where no webhooks are heard, ask."""
    deadline = time.monotonic() + FINALIZE_SECONDS
    while time.monotonic() < deadline:
        if heard is None or any(each["event"] == "request.completed" for each in heard):
            request = client.signature_request(request_id)
            if request.finalized:
                return request
        time.sleep(0.3 if heard is None else 0.01)
    sys.exit(f"Error: Request {request_id} was not finalized within {FINALIZE_SECONDS} s.")


@contextmanager
def webhook_receiver() -> Iterator[tuple[list[dict[str, str]], str]]:
    """Receive webhooks on loopback. Yield what arrives, in its order and unchecked, and the address to send it to."""
    heard: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # with which connections are kept

        def do_POST(self) -> None:
            body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 1 << 20))
            said = {each: self.headers.get(f"X-Service-{each}", "") for each in ("event", "delivery", "signature")}
            heard.append({"received_at": iso(datetime.now(UTC)), **said, "body": body.decode(errors="replace")})
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing: the deliveries are written to a file."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield heard, f"http://127.0.0.1:{server.server_port}/webhooks"
    finally:
        server.shutdown()
        server.server_close()


def webhook_problems(heard: list[dict[str, str]], secret: str) -> list[str]:
    problems = []
    for each in heard:
        try:
            genuine = verify_webhook(each["body"].encode(), each["signature"], secret)["event"] == each["event"]
        except (InvalidSignatureError, ValueError, KeyError, TypeError):
            genuine = False
        if not genuine:
            told = f"the webhook {each['event']} of delivery {each['delivery']}"
            problems.append(f"{told} is not signed with the application's secret")
    events = {each["event"] for each in heard}
    wanted = ("signer.otp_sent", "signer.signed", "request.completed")
    return problems + [f"no webhook {event} came" for event in wanted if event not in events]


@contextmanager
def service(folder: Path) -> Iterator[str]:
    """Run ``paraph serve`` with its data in that folder, on a free port. Yield its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    url, log = f"http://127.0.0.1:{port}", folder / "serve.log"
    command = [*PARAPH, "serve", "--data-dir", str(folder), "--host", "127.0.0.1", "--port", port]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=ENVIRONMENT)
    try:
        with stage("start the service", "start"):
            deadline = time.monotonic() + START_SECONDS  # one that fails ends by itself
            while not answers(url):
                if process.poll() is not None or time.monotonic() > deadline:
                    lines = log.read_text(errors="replace").splitlines()[-15:]
                    sys.exit("\n".join(["Error: The service did not start:", *lines]))
                time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree((folder / "postgres").resolve(), ignore_errors=True)  # as root, a link to a folder elsewhere


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/api/v1/health", timeout=10).status_code == httpx.codes.UNAUTHORIZED
    except httpx.HTTPError:
        return False


def operate(folder: str, *arguments: str) -> dict[str, Any]:
    """Return what an operator's command answers."""
    done = paraph(*arguments, "--data-dir", folder, "--json")
    if done.returncode:
        sys.exit(f"Error: {done.stderr.strip()}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def verified(command: list[str]) -> tuple[str, list[str]]:
    """Return what ``paraph verify`` says, and each problem that it names."""
    done = paraph(*command)
    problems = [line.split(": ", 1)[1] for line in done.stdout.splitlines() if line.startswith("  NOT OK: ")]
    return done.stdout, problems or ([done.stderr.strip()] if done.returncode else [])


def paraph(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*PARAPH, *arguments], capture_output=True, text=True, check=False, env=ENVIRONMENT)


@contextmanager
def stage(title: str, name: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    seconds[name] = round(time.perf_counter() - began, 3)
    print(f"{seconds[name]:7.2f} s  {title}", flush=True)


def write(out: Path, files: dict[str, bytes]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (out / name).write_bytes(content)


def report(out: Path, request_id: int, names: list[str], problems: list[str]) -> None:
    """Write ``report.json`` and name the files; end with 1 where something does not hold."""
    digests = {name: sha256((out / name).read_bytes()) for name in names if name.endswith(".pdf")}
    facts = {"request_id": request_id, "verified": not problems, "problems": problems}
    total = round(sum(seconds.values()), 3)
    write(out, {"report.json": as_json({**facts, "seconds": {**seconds, "total": total}, "sha256": digests})})
    print(*(f"  {out / name}" for name in [*names, "report.json"]), sep="\n")
    if problems:
        sys.exit(f"Error: {'; '.join(problems)}")


def as_json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def iso(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    main()
