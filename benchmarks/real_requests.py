"""Requests as people make them, in a service that runs: uploaded, created, opened, signed with a code, sealed, proven.

Each is the demo's three-page contract. Its signers are mailed and have an address and a name of their own; an
application gets its webhooks. A request counts once its ``request.completed`` came.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import httpx

from benchmarks.webhook_receiver import WebhookReceiver
from paraph_client import Client, DocumentInput, Placement, SignerInput, at, under_tag
from tests.contract import contract

SETTINGS = {
    "PARAPH_RATE_LIMIT_FACTOR": "1000000",
    "PARAPH_SANDBOX_REQUESTS": "0",
    "PARAPH_SANDBOX_STORAGE_MB": "0",
    "PARAPH_MESSAGES_SANDBOX": "1000000/10000000",
    "PARAPH_LOG_LEVEL": "WARNING",
}
_CLIENTS = 4
_PATIENCE_SECONDS = 300
_BROWSER = (
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.3 Safari"
)
_PLACES = (under_tag("{{signature:landlord}}"), at(3, 320, 120))


@dataclass(frozen=True)
class Maker:
    """Who makes requests, of the application with that key, at a service."""

    url: str
    api_key: str
    receiver: WebhookReceiver

    def make(self, count: int, signers: int) -> None:
        """Make as many requests, each signed by ``signers`` people, one or two."""
        pdf, transport = contract(), httpx.HTTPTransport()
        numbers, lock = iter(range(count)), threading.Lock()

        def work(_client: int) -> None:
            client = Client(self.url, self.api_key, transport=transport)
            browser = httpx.Client(timeout=60, transport=transport, headers={"User-Agent": _BROWSER})
            for _ in _shared(numbers, lock):
                self._one(client, browser, pdf, signers)

        with ThreadPoolExecutor(_CLIENTS) as pool:
            list(pool.map(work, range(_CLIENTS)))  # raises what one of them raised

    def _one(self, client: Client, browser: httpx.Client, pdf: bytes, signers: int) -> None:
        document = client.upload_document(pdf, "contract.pdf")
        people = [
            SignerInput(str(n), "Zoë", f"Lindqvist-{document.id}", f"zoe{document.id}-{n}@example.com")
            for n in range(signers)
        ]
        request = client.create_signature_request(
            mode="parallel",
            validity_days=30,
            send_email=True,
            identity_declaration_accepted=True,
            notify_signers_on_completion=True,
            signers=people,
            documents=[DocumentInput(document.id, [Placement(str(n), [_PLACES[n]]) for n in range(signers)])],
        )
        for signer in request.signers:
            url = signer.signing_url or ""
            browser.get(url).raise_for_status()
            code = browser.post(f"{url}/otp", json={"channel": "email"}).raise_for_status().json()["sandbox_code"]
            browser.post(f"{url}/signature", json={"code": code, "consent": True}).raise_for_status()
        if not self.receiver.wait("request.completed", request.id, _PATIENCE_SECONDS):
            raise SystemExit(f"request {request.id} was not completed within {_PATIENCE_SECONDS} s")


def _shared(numbers: Iterator[int], lock: threading.Lock) -> Iterator[int]:
    """What is left of the numbers, which several threads take one by one."""
    while True:
        with lock:
            number = next(numbers, None)
        if number is None:
            return
        yield number
