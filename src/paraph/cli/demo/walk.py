"""The main job as a client backend and its signers do it, over HTTP."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click
import httpx

from paraph.pdf.inspect import inspect

_WAIT_SECONDS = 60


@dataclass(frozen=True)
class Signing:
    """Who signs, and where: ``stamp`` as in the API, None for coordinates on the last page."""

    ref: str
    first_name: str
    last_name: str
    email: str
    stamp: dict[str, Any] | None
    drawn: bool


@dataclass(frozen=True)
class Result:
    """What the walk brings home."""

    request_id: int
    uploaded: bytes
    signed: bytes
    proof: bytes
    audit: list[dict[str, Any]]


class Stopwatch:
    """Shows each stage as it goes and keeps its seconds under a name."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, title: str, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - began, 3)
        self._say(f"{self.seconds[name]:7.2f} s  {title}")


def walk(url: str, api_key: str, pdf: bytes, *, name: str, signings: list[Signing], watch: Stopwatch) -> Result:
    """Upload, create, sign with one-time codes, wait for ``finalized``, download."""
    with httpx.Client(base_url=url, headers={"X-Api-Key": api_key}, timeout=30) as client:
        with watch.stage(f"upload {name} ({len(pdf):,} bytes)", "upload"):
            files = {"file": (name, pdf, "application/pdf")}
            document = _ask(client.post("/api/v1/documents", files=files))
        with watch.stage("create the signature request", "create"):
            body = _payload(document["id"], pdf, signings)
            request = _ask(client.post("/api/v1/signature_requests", json=body))
        for signing, signer in zip(signings, request["signers"], strict=True):
            with watch.stage(f"{signer['full_name']} signs with a one-time code", f"sign_{signing.ref}"):
                _sign(signer["signing_url"], signing)
        with watch.stage("seal the PDF and issue the proof", "finalize"):
            finished = _finished(client, request["id"])
        with watch.stage("download", "download"):
            urls = finished["download_urls"][0]
            signed, proof = _download(urls["signed_url"]), _download(urls["certificate_url"])
            audit = _ask(client.get(f"/api/v1/signature_requests/{request['id']}/audit_logs", params={"limit": 100}))
    return Result(request["id"], pdf, signed, proof, audit["data"])


def _payload(document_id: int, pdf: bytes, signings: list[Signing]) -> dict[str, Any]:
    stamps = [signing.stamp or _foot_of_last_page(pdf, index) for index, signing in enumerate(signings)]
    return {
        "signature_request": {
            "mode": "sequential",
            "validity_days": 7,
            "signers": [
                {"ref": s.ref, "first_name": s.first_name, "last_name": s.last_name, "email": s.email, "order": order}
                for order, s in enumerate(signings, start=1)
            ],
            "documents": [
                {
                    "id": document_id,
                    "signers": [
                        {"signer_ref": s.ref, "stamps": [stamp]} for s, stamp in zip(signings, stamps, strict=True)
                    ],
                }
            ],
        }
    }


def _foot_of_last_page(pdf: bytes, index: int) -> dict[str, Any]:
    """The first signer on the left, the second on the right, in points of the page as a reader sees it."""
    pages = inspect(pdf, page_limit=100_000).pages
    page_width, page_height = pages[-1]
    width, height = min(200.0, max(80.0, page_width / 2 - 30)), min(80.0, max(30.0, page_height / 3))
    x, y = (20.0 if index == 0 else page_width - width - 20), (90.0 if page_height > 250 else 5.0)
    place = {"page_number": len(pages), "x": x, "y": y, "width": width, "height": height}
    return {"type": "coordinates", "value": place}


def _sign(signing_url: str, signing: Signing) -> None:
    code = _ask(httpx.post(f"{signing_url}/otp", json={"channel": "email"}, timeout=30))["sandbox_code"]
    signature = {"type": "drawn", "strokes": _flourish()} if signing.drawn else {"type": "typed"}
    body = {"code": code, "consent": True, "signature": signature, "locale": "en"}
    _ask(httpx.post(f"{signing_url}/signature", json=body, timeout=30))


def _flourish() -> list[list[list[float]]]:
    """A drawn signature: a run of narrowing loops and a stroke under it, x and y in 0..1."""
    loops = [
        [
            round(0.08 + 0.74 * t + 0.07 * math.sin(26 * t), 4),
            round(0.46 - (0.34 - 0.2 * t) * math.cos(26 * t + 0.5), 4),
        ]
        for t in (step / 160 for step in range(161))
    ]
    underline = [[round(0.06 + 0.86 * t, 4), round(0.9 - 0.1 * t - 0.05 * math.sin(5 * t), 4)] for t in
                 (step / 30 for step in range(31))]  # fmt: skip
    return [loops, underline]


def _finished(client: httpx.Client, request_id: int) -> dict[str, Any]:
    deadline = time.monotonic() + _WAIT_SECONDS
    while True:
        request = _ask(client.get(f"/api/v1/signature_requests/{request_id}"))
        if request["finalized"]:
            return request
        if time.monotonic() > deadline:
            raise click.ClickException(f"Request {request_id} was not finalized within {_WAIT_SECONDS} s.")
        time.sleep(0.1)


def _download(url: str) -> bytes:
    answer = httpx.get(url, timeout=60)
    if answer.status_code != httpx.codes.OK:
        raise click.ClickException(f"A download answered {answer.status_code}.")
    return answer.content


def _ask(answer: httpx.Response) -> dict[str, Any]:
    """The JSON of a success; any other answer ends the demo with the service's own sentence."""
    body: dict[str, Any] = answer.json()
    if answer.is_error:
        raise click.ClickException(f"{answer.request.method} {answer.request.url.path}: {body['error']['message']}")
    return body
