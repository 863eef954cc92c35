"""One file through the API and the signing page, and what both answer."""

import time
from dataclasses import dataclass, field
from typing import Any

import httpx

from lab.chaos.world import MailServer

STAMP = (60.0, 60.0, 200.0, 70.0)
"""Left, bottom, width and height on page 1, in points."""
_SERVER_ERROR = 500
_MOST_TRIES = 30


@dataclass
class Journey:
    """What became of a file. ``fault`` is empty unless something is wrong; ``refusal`` is the sentence of a 422."""

    name: str
    pdf: bytes
    refusal: str = ""
    fault: str = ""
    request: int = 0
    pictures: list[bytes] = field(default_factory=list)
    """WebP of every page, as the signing page showed it."""
    sealed: bytes = b""


class Refused(Exception):
    """A call was answered with 422; the message is its sentence."""


class Client:
    """Of one thread."""

    def __init__(self, url: str, key: str, mail: MailServer) -> None:
        self._api = httpx.Client(base_url=f"{url}/api/v1", headers={"X-Api-Key": key}, timeout=60)
        self._open = httpx.Client(timeout=60)
        self._mail = mail

    def sign(self, journey: Journey, number: int) -> None:
        """Uploads, asks for one signature, looks at every page and signs."""
        try:
            self._sign(journey, f"signer{number}@example.com")
        except Refused as refused:
            journey.refusal = str(refused)
        except (httpx.HTTPError, RuntimeError) as error:
            journey.fault = str(error) or repr(error)

    def fetch(self, journey: Journey) -> bool:
        """Whether the request is finalized; then the sealed file is here."""
        found = self._called("GET", f"/signature_requests/{journey.request}")
        if not found["finalized"]:
            return False
        journey.sealed = self._open.get(found["download_urls"][0]["signed_url"]).raise_for_status().content
        return True

    def _sign(self, journey: Journey, email: str) -> None:
        file = {"file": ("odd.pdf", journey.pdf, "application/pdf")}
        document = self._called("POST", "/documents", files=file)
        request = self._called("POST", "/signature_requests", json=_payload(document["id"], email))
        journey.request = request["id"]
        page = request["signers"][0]["signing_url"]
        for index in range(document["preflight"]["page_count"]):
            picture = _asked(self._open, "GET", f"{page}/documents/{document['id']}/pages/{index + 1}.webp")
            journey.pictures.append(picture.content)
        _asked(self._open, "POST", f"{page}/otp", json={"channel": "email"})
        body = {"code": self._mail.codes[email], "consent": True, "signature": {"type": "typed"}, "locale": "en"}
        _asked(self._open, "POST", f"{page}/signature", json=body)

    def _called(self, method: str, path: str, **what: Any) -> Any:
        return _asked(self._api, method, path, **what).json()


def _asked(client: httpx.Client, method: str, url: str, **what: Any) -> httpx.Response:
    """Return the answer to a call, which is made again after ``Retry-After`` while the service is too busy for it: all
    threads here are one organization, of which few may wait at a time."""
    for _ in range(_MOST_TRIES):
        response = client.request(method, url, **what)
        if response.status_code != httpx.codes.SERVICE_UNAVAILABLE or "Retry-After" not in response.headers:
            break
        time.sleep(float(response.headers["Retry-After"]))
    if response.status_code == httpx.codes.UNPROCESSABLE_ENTITY:
        raise Refused(response.json()["error"]["message"])
    if response.is_error:
        kind = "a fault" if response.status_code >= _SERVER_ERROR else "a refusal"
        where = response.request.url.path.split("/")[-1]
        raise RuntimeError(f"{kind} of the service at {where}: {response.status_code} {response.text[:200]}")
    return response


def _payload(document: int, email: str) -> dict[str, Any]:
    left, bottom, width, height = STAMP
    place = {"page_number": 1, "x": left, "y": bottom, "width": width, "height": height}
    stamps = [{"type": "coordinates", "value": place}]
    signer = {"ref": "a", "first_name": "Ada", "last_name": "Lovelace", "email": email, "order": 1}
    request = {
        "mode": "parallel",
        "validity_days": 1,
        "identity_declaration_accepted": True,
        "signers": [signer],
        "documents": [{"id": document, "signers": [{"signer_ref": "a", "stamps": stamps}]}],
    }
    return {"signature_request": request}
