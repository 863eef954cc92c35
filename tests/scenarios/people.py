"""A client backend and its signers, over plain HTTP, as an integrator would write them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from tests.contract import contract


@dataclass
class Backend:
    """A client backend with its API key."""

    url: str
    api_key: str

    def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = {"X-Api-Key": self.api_key} | options.pop("headers", {})
        options = {"timeout": 30} | options
        return httpx.request(method, f"{self.url}/api/v1/{path}", headers=headers, **options)

    def upload(self, pdf: bytes, name: str = "contract.pdf", timeout: float = 30) -> int:
        answer = self.call("POST", "documents", files={"file": (name, pdf, "application/pdf")}, timeout=timeout)
        assert answer.status_code == 201, answer.text
        return int(answer.json()["id"])

    def create(self, **fields: Any) -> dict[str, Any]:
        answer = self.call("POST", "signature_requests", json={"signature_request": fields})
        assert answer.status_code == 201, answer.text
        body: dict[str, Any] = answer.json()
        return body

    def ask(self, *refs: str, **fields: Any) -> dict[str, Any]:
        """Create a request of these signers with the fields of :meth:`wanted`; return the answer."""
        return self.create(**self.wanted(*refs, **fields))

    def wanted(self, *refs: str, document: int = 0, stamps: Sequence[Any] = (), **fields: Any) -> dict[str, Any]:
        """Return the fields of a request for these signers, each with these stamps or one of their own, on ``document``
        or on a new one."""
        placed = [
            {"signer_ref": ref, "stamps": stamps or [at(x=72 + 200 * (index % 2), y=72 + 100 * (index // 2))]}
            for index, ref in enumerate(refs)
        ]
        people = {"mode": "parallel", "validity_days": 1, "signers": [signer(ref) for ref in refs]}
        return people | {"documents": [{"id": document or self.upload(contract()), "signers": placed}]} | fields

    def read(self, request_id: int) -> dict[str, Any]:
        answer = self.call("GET", f"signature_requests/{request_id}")
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body

    def finalized(self, request_id: int, seconds: float = 60) -> dict[str, Any]:
        """Wait until the request is finalized, and return it."""
        deadline, pause = time.monotonic() + seconds, 0.05
        while not (body := self.read(request_id))["finalized"]:
            assert time.monotonic() < deadline, f"request {request_id} was not finalized in {seconds} s: {body}"
            time.sleep(pause)
            pause = min(1.0, 1.2 * pause)  # the sandbox allows 120 calls a minute
        return body

    def told(self, request_id: int, event_type: str, seconds: float = 60) -> list[dict[str, Any]]:
        """Wait until the journal has the event, and return the journal."""
        deadline = time.monotonic() + seconds
        journal = self.journal(request_id)
        while event_type not in {entry["event_type"] for entry in journal}:
            assert time.monotonic() < deadline, f"request {request_id}: no {event_type} in {seconds} s"
            time.sleep(0.1)
            journal = self.journal(request_id)
        return journal

    def journal(self, request_id: int) -> list[dict[str, Any]]:
        answer = self.call("GET", f"signature_requests/{request_id}/audit_logs", params={"limit": 100})
        entries: list[dict[str, Any]] = answer.json()["data"]
        return entries


def signer(ref: str, first_name: str = "Zoë", last_name: str = "Lindqvist", **more: Any) -> dict[str, Any]:
    return {"ref": ref, "first_name": first_name, "last_name": last_name, "email": f"{ref}@example.com"} | more


def at(page_number: int = 1, x: float = 72, y: float = 72, **size: float) -> dict[str, Any]:
    return {"type": "coordinates", "value": {"page_number": page_number, "x": x, "y": y} | size}


def under(tag: str, **more: Any) -> dict[str, Any]:
    return {"type": "magic_field", "value": {"tag": tag}} | more


def code_for(signing_url: str) -> str:
    answer = httpx.post(f"{signing_url}/otp", json={"channel": "email"}, timeout=30)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["sandbox_code"])


def sign(signing_url: str, code: str | None = None, **more: Any) -> httpx.Response:
    """Sign with the given code, or with a fresh one."""
    body = {"code": code or code_for(signing_url), "consent": True} | more
    return httpx.post(f"{signing_url}/signature", json=body, timeout=30)
