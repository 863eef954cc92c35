"""One signature request from upload to download, as a backend and its signers do it over HTTP."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click
import httpx

from paraph.cli.demo.webhook_receiver import ReceivedWebhook, WebhookReceiver
from paraph.pdf.untrusted.inspect import inspect
from paraph_client import AuditLogEntry, Client, DocumentInput, Placement, SignatureRequest, SignerInput, Stamp, at

_WAIT_SECONDS = 300  # a busy machine seals late
_ASK_SECONDS = 0.3
_ANSWER_SECONDS = 60


@dataclass(frozen=True)
class Signing:
    """A signer and the place of the stamp; ``stamp`` None means the foot of the last page."""

    ref: str
    first_name: str
    last_name: str
    email: str
    stamp: Stamp | None
    drawn: bool

    def signer(self, order: int) -> SignerInput:
        return SignerInput(self.ref, self.first_name, self.last_name, self.email, order)


@dataclass(frozen=True)
class DemoResult:
    """The files, the journal and the webhooks of the finished request."""

    request_id: int
    uploaded: bytes
    signed: bytes
    proof: bytes
    audit: list[AuditLogEntry]
    webhooks: list[ReceivedWebhook]
    webhook_secret: str


class Stopwatch:
    """Measure stages: prints each with its seconds, and keeps the seconds by name."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, title: str, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - began, 3)
        self._say(f"{self.seconds[name]:7.2f} s  {title}")


@dataclass(frozen=True)
class Backend:
    """The client of the service: its API key, and its receiver of webhooks, unless they go elsewhere."""

    url: str
    api_key: str
    webhook_secret: str = ""
    receiver: WebhookReceiver | None = None


def walk(backend: Backend, pdf: bytes, *, name: str, signings: list[Signing], watch: Stopwatch) -> DemoResult:
    """Upload a PDF, create a request, sign it with one-time codes, wait until it is finalized, download."""
    with Client(backend.url, backend.api_key) as client:
        with watch.stage(f"upload {name} ({len(pdf):,} bytes)", "upload"):
            document = client.upload_document(pdf, name)
        with watch.stage("create the signature request", "create"):
            request = client.create_signature_request(
                mode="sequential",
                validity_days=7,
                signers=[signing.signer(order) for order, signing in enumerate(signings, start=1)],
                documents=[DocumentInput(document.id, _placements(pdf, signings))],
            )
        for signing, signer in zip(signings, request.signers, strict=True):
            with watch.stage(f"{signer.full_name} signs with a one-time code", f"sign_{signing.ref}"):
                _sign(str(signer.signing_url), signing)
        with watch.stage("seal the PDF and issue the proof", "finalize"):
            urls = _finished(client, backend.receiver, request.id).download_urls[0]
        with watch.stage("download", "download"):
            signed, proof = client.download(urls.signed_url), client.download(urls.certificate_url)
            audit = list(client.iter_audit_logs(request.id))
    heard = list(backend.receiver.received) if backend.receiver else []
    return DemoResult(request.id, pdf, signed, proof, audit, heard, backend.webhook_secret)


def _placements(pdf: bytes, signings: list[Signing]) -> list[Placement]:
    return [
        Placement(signing.ref, [signing.stamp or _foot_of_last_page(pdf, index)])
        for index, signing in enumerate(signings)
    ]


def _foot_of_last_page(pdf: bytes, index: int) -> Stamp:
    """Place the first signer's stamp on the left and the second's on the right, in points of the displayed page."""
    pages = inspect(pdf, page_limit=100_000).pages
    page_width, page_height = pages[-1]
    width, height = min(200.0, max(80.0, page_width / 2 - 30)), min(80.0, max(30.0, page_height / 3))
    x, y = (20.0 if index == 0 else page_width - width - 20), (90.0 if page_height > 250 else 5.0)
    return at(len(pages), x, y, width, height)


def _sign(signing_url: str, signing: Signing) -> None:
    sent = httpx.post(f"{signing_url}/otp", json={"channel": "email"}, timeout=_ANSWER_SECONDS)
    code = _json_of(sent)["sandbox_code"]
    signature = {"type": "drawn", "strokes": _flourish()} if signing.drawn else {"type": "typed"}
    body = {"code": code, "consent": True, "signature": signature, "locale": "en"}
    _json_of(httpx.post(f"{signing_url}/signature", json=body, timeout=_ANSWER_SECONDS))


def _flourish() -> list[list[list[float]]]:
    """Stroke of a drawn signature in 0..1, about three times as wide as high: narrowing loops and an underline."""
    loops = [
        [
            round(0.05 + 0.8 * t + 0.04 * math.sin(40 * t), 4),
            round(0.16 - (0.13 - 0.09 * t) * math.cos(40 * t + 0.5), 4),
        ]
        for t in (step / 240 for step in range(241))
    ]
    underline = [
        [round(0.03 + 0.94 * t, 4), round(0.33 - 0.04 * t - 0.02 * math.sin(5 * t), 4)]
        for t in (step / 30 for step in range(31))
    ]
    return [loops, underline]


def _finished(client: Client, receiver: WebhookReceiver | None, request_id: int) -> SignatureRequest:
    """Wait for ``request.completed``, sent once files can be downloaded; without a receiver, ask until they can."""
    if receiver:
        receiver.wait("request.completed", request_id, _WAIT_SECONDS)
    deadline = time.monotonic() + (0 if receiver else _WAIT_SECONDS)
    while not (request := client.signature_request(request_id)).finalized:
        if time.monotonic() > deadline:
            raise click.ClickException(f"Request {request_id} was not finalized within {_WAIT_SECONDS} s.")
        time.sleep(_ASK_SECONDS)
    return request


def _json_of(answer: httpx.Response) -> dict[str, Any]:
    """Return the JSON of a successful answer. Any other answer ends the demo with the service's own sentence."""
    body: dict[str, Any] = answer.json()
    if answer.is_error:
        raise click.ClickException(f"{answer.request.method} /sign/…: {body['error']['message']}")
    return body
