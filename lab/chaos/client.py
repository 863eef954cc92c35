"""A patient client: it repeats a call until it is answered, as real ones do."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg

from lab.chaos.world import REFUSING, World
from tests.pdf.pdf_factory import paper, text

_EXPIRING = 8  # every eighth request is left to expire
_LARGE = 4  # every fourth has two signers and two documents
_REFUSING = 6  # number 6 of every eight: the signer's mailbox refuses the invitation for good


@dataclass(frozen=True)
class Made:
    """A created request, and the end that is intended for it."""

    id: int
    signers: list[dict[str, Any]]
    documents: int
    expires: bool
    refuses: bool


class Client:
    """A client that repeats its calls until ``deadline`` (``time.monotonic``); after it, no answer is an error."""

    def __init__(self, base_url: str, api_key: str, world: World, database: str, deadline: float) -> None:
        self._base = f"{base_url}/api/v1"
        self._key = {"X-Api-Key": api_key}
        self._world = world
        self._database = database
        self._deadline = deadline

    def flow(self, number: int) -> Made:
        """Create a request; have its signers sign, let it expire, or invite a signer whose mailbox does not exist."""
        count = 2 if number % _LARGE == 1 else 1
        documents = [self._upload(f"Contract {number}.{position}") for position in range(count)]
        refuses = number % _EXPIRING == _REFUSING
        name = REFUSING if refuses else "signer"
        emails = [f"{name}{number}-{position}@example.com" for position in range(count)]
        answer = self._api("POST", "/signature_requests", json=_payload(documents, emails)).json()
        made = Made(answer["id"], answer["signers"], count, number % _EXPIRING == 2, refuses)
        if made.expires:
            self._expire(made.id)
        for signer in [] if made.expires or made.refuses else made.signers:
            while not self._sign(signer["signing_url"], signer["email"]):
                assert time.monotonic() < self._deadline, f"request {made.id} could not be signed in time"
        return made

    def is_done(self, made: Made) -> bool:
        """Whether the request has expired, its invitation was refused, or it is finalized and its summary is mailed.
        The mail is asked for separately because it waits for the mail server and not for the proof."""
        found = self._api("GET", f"/signature_requests/{made.id}").json()
        if made.expires:
            return bool(found["status"] == "expired")
        if made.refuses:
            return "failed" in (found["signers"][0]["delivery"] or {})
        journal = self._api("GET", f"/signature_requests/{made.id}/audit_logs?limit=100&order=desc").json()
        told = {entry["event_type"] for entry in journal["data"]}
        return found["finalized"] and "request.completion_notified" in told

    def _upload(self, words: str) -> int:
        file = {"file": ("a.pdf", paper(text(words, 100, 700)), "application/pdf")}
        return int(self._api("POST", "/documents", files=file).json()["id"])

    def _expire(self, request_id: int) -> None:
        """Move the end of the request to two seconds from now: no request can be created for less than a day."""
        statement = "UPDATE signature_requests_signaturerequest SET expires_at = now() + interval '2 s' WHERE id = %s"
        while True:
            try:
                with psycopg.connect(self._database, autocommit=True, connect_timeout=5) as connection:
                    connection.execute(statement, [request_id])
                return
            except psycopg.OperationalError:
                assert time.monotonic() < self._deadline, f"no database to let request {request_id} expire"
                time.sleep(0.3)

    def _sign(self, url: str, email: str) -> bool:
        """Whether the signer has signed. A call whose answer was lost may have worked: then the next one says 409."""
        sent = self._answered(lambda: httpx.post(f"{url}/otp", json={"channel": "email"}, timeout=20), pause=2)
        if sent.status_code == 409:
            return True
        assert sent.status_code == 200, sent.text
        body = {"code": self._world.mail.codes[email], "consent": True, "signature": {"type": "typed"}, "locale": "en"}
        signed = self._answered(lambda: httpx.post(f"{url}/signature", json=body, timeout=20))
        return signed.status_code in (200, 409)

    def _api(self, method: str, path: str, **what: Any) -> httpx.Response:
        return self._answered(
            lambda: httpx.request(method, f"{self._base}{path}", headers=self._key, timeout=20, **what)
        )

    def _answered(self, call: Callable[[], httpx.Response], pause: float = 0.3) -> httpx.Response:
        while True:
            try:
                response = call()
                if response.status_code < 500 and response.status_code != 429:
                    return response
                problem = f"{response.status_code} {response.text}"
            except httpx.HTTPError as error:
                problem = repr(error)
            assert time.monotonic() < self._deadline, problem
            time.sleep(pause)


def _payload(documents: list[int], emails: list[str]) -> dict[str, Any]:
    signers = [
        {"ref": email, "first_name": "Ada", "last_name": "Lovelace", "email": email, "order": position}
        for position, email in enumerate(emails, 1)
    ]
    placed = [
        {"signer_ref": email, "stamps": [{"type": "coordinates", "value": {"page_number": 1, "x": 60, "y": y}}]}
        for y, email in zip((60, 300), emails, strict=False)
    ]
    request = {
        "mode": "sequential",
        "validity_days": 1,
        "send_email": True,
        "identity_declaration_accepted": True,
        "notify_signers_on_completion": True,
        "signers": signers,
        "documents": [{"id": document, "signers": placed} for document in documents],
    }
    return {"signature_request": request}
