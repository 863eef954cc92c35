"""A patient client: it repeats a call until it is answered, as real ones do."""

import time
from collections.abc import Callable
from typing import Any

import httpx

from tests.chaos.world import World
from tests.pdf.papers import paper, text


class Client:
    """``deadline``: of ``time.monotonic``; after it a call that is not answered is an error."""

    def __init__(self, base_url: str, api_key: str, world: World, deadline: float) -> None:
        self._base = f"{base_url}/api/v1"
        self._key = {"X-Api-Key": api_key}
        self._world = world
        self._deadline = deadline

    def flow(self, number: int) -> dict[str, Any]:
        """Creates a request and has its signer sign; returns it as created."""
        email = f"signer{number}@example.com"
        file = {"file": ("a.pdf", paper(text(f"Contract {number}", 100, 700)), "application/pdf")}
        document = self._api("POST", "/documents", files=file).json()["id"]
        made: dict[str, Any] = self._api("POST", "/signature_requests", json=_payload(document, email)).json()
        url = made["signers"][0]["signing_url"]
        while not self._sign(url, email):
            assert time.monotonic() < self._deadline, f"request {made['id']} could not be signed in time"
        return made

    def status(self, request_id: int) -> dict[str, Any]:
        found: dict[str, Any] = self._api("GET", f"/signature_requests/{request_id}").json()
        return found

    def _sign(self, url: str, email: str) -> bool:
        """A call whose answer was lost may have worked: then the next one says 409."""
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


def _payload(document: int, email: str) -> dict[str, Any]:
    place = {"type": "coordinates", "value": {"page_number": 1, "x": 60, "y": 60}}
    request = {
        "mode": "parallel",
        "validity_days": 1,
        "send_email": True,
        "identity_declaration_accepted": True,
        "notify_signers_on_completion": True,
        "signers": [{"ref": "a", "first_name": "Ada", "last_name": "Lovelace", "email": email}],
        "documents": [{"id": document, "signers": [{"signer_ref": "a", "stamps": [place]}]}],
    }
    return {"signature_request": request}
