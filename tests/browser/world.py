"""One served Paraph, and every state of a signing page in it, reached as signers reach it."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
import psycopg

from paraph.postgres import embedded_url
from tests.browser.contract import contract
from tests.cli.service import Service
from tests.scenarios.people import Backend, at, code_for, sign, signer

_UNREACHABLE = "apprise+json://127.0.0.1:9/{to}"  # nobody listens on the port "discard"
_EXPIRE = "UPDATE signature_requests_signaturerequest SET expires_at = now() WHERE id = %s"
_PUT_OFF = """
CREATE FUNCTION put_off() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.scheduled_at = now() + interval '1 hour';
    RETURN NEW;
END $$;
CREATE TRIGGER put_off BEFORE INSERT ON procrastinate_jobs FOR EACH ROW
    WHEN (NEW.task_name LIKE '%finalize') EXECUTE FUNCTION put_off();
"""
_GO_ON = """
DROP FUNCTION put_off CASCADE;
UPDATE procrastinate_jobs SET scheduled_at = NULL WHERE task_name LIKE '%finalize' AND status = 'todo';
"""


SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class World(Service):
    """The service, a client of the organization "Harbour Homes" and what it asks signers for."""

    def __init__(self, data_dir: Path) -> None:
        """Prepare a service of its own, which reaches no phone."""
        one = {"PARAPH_WEB_PROCESSES": "1", "PARAPH_WORKER_PROCESSES": "1", "PARAPH_TRUSTED_PROXIES": "127.0.0.1"}
        many = {"PARAPH_RATE_LIMIT_FACTOR": "100", "PARAPH_MESSAGES_PER_DESTINATION": "1000/1000"}
        many |= {"PARAPH_WRONG_CODES_PER_DESTINATION": "10000", "PARAPH_WRONG_CODES_PER_ORGANIZATION": "10000"}
        super().__init__(data_dir, **one, **many, PARAPH_SMS_URL=_UNREACHABLE)

    @cached_property
    def _documents(self) -> dict[int, int]:
        return {}

    @cached_property
    def backend(self) -> Backend:
        organization = self.command("organization", "create", "Harbour Homes", "--plan", "enterprise")["id"]
        colors = ["--background-color", "#14342b", "--text-color", "#f4f1de", "--accent-color", "#e07a5f"]
        of_it = ["--organization", str(organization)]
        made = self.commands(
            [
                ["organization", "update", str(organization), "--contact-email", "office@harbour.example"],
                ["application", "create", *of_it, "--environment", "sandbox", "--name", "b"],
                ["branding", "create", *of_it, "--name", "Harbour", *colors],
            ]
        )
        self.application_id, self.branding_id = made[1]["id"], made[2]["id"]
        return Backend(self.base_url, made[1]["api_key"])

    def document(self, pages: int = 3) -> int:
        """Return the id of a contract of this many pages, which is uploaded once."""
        if pages not in self._documents:
            self._documents[pages] = self.backend.upload(contract(pages), "Lease Harbour Street 4.pdf")
        return self._documents[pages]

    def asked(
        self,
        *,
        branded: bool = False,
        pages: int = 3,
        signers: int = 1,
        approvers: int = 0,
        more: Any = None,
        language: str = "en",
        **fields: Any,
    ) -> list[str]:
        """The signing addresses of a new request in the language, by order. ``more``: fields of each signer;
        ``approvers``: how many of the first ones approve."""
        people = [signer(f"person-{n}", order=n, **(more or {})) for n in range(1, signers + 1)]
        stamps = [at(pages, 316, 60 + 90 * n) for n in range(signers)]
        placed = [{"signer_ref": p["ref"], "stamps": [stamp]} for p, stamp in zip(people, stamps, strict=True)]
        for person, place in list(zip(people, placed, strict=True))[:approvers]:
            person["role"] = "approver"
            del place["stamps"]
        documents = [{"id": self.document(pages), "signers": placed}]
        profile = self.branding_id if branded else None
        return self._created(language, people, documents, branding_profile_id=profile, **fields)

    def asked_for(self, *documents: tuple[int, list[Any]], fields: Sequence[Any] = ()) -> str:
        """The address of one signer with these stamps and fields on each of the documents."""
        own = {"signer_ref": "person-1", "fields": fields}
        placed = [{"id": pdf, "signers": [own | {"stamps": stamps}]} for pdf, stamps in documents]
        return self._created("en", [signer("person-1", order=1)], placed)[0]

    def _created(self, language: str, people: list[Any], documents: list[Any], **fields: Any) -> list[str]:
        content = {"mode": "sequential", "validity_days": 30, "identity_declaration_accepted": True}
        body = {"signature_request": content | {"signers": people, "documents": documents} | fields}
        answer = self.backend.call("POST", "signature_requests", json=body, headers={"Accept-Language": language})
        assert answer.status_code == 201, answer.text
        self.newest = int(answer.json()["id"])
        return [str(person["signing_url"]) for person in answer.json()["signers"]]

    def state(self, name: str, *, branded: bool = False) -> str:
        """Return the address of a signing page in this state."""
        return str(getattr(self, f"_{name}")(branded))

    def _ready(self, branded: bool) -> str:
        return self.asked(branded=branded, initials_required=True)[0]

    def _not_your_turn(self, branded: bool) -> str:
        return self.asked(branded=branded, signers=2)[1]

    def _expired(self, branded: bool) -> str:
        url = self.asked(branded=branded)[0]
        self.expire(self.newest)
        return url

    def _already_signed(self, branded: bool) -> str:
        """Another signer has yet to sign."""
        url = self.asked(branded=branded, signers=2)[0]
        assert sign(url).status_code == 200
        return url

    def _sealed(self, branded: bool) -> str:
        url = self.asked(branded=branded)[0]
        assert sign(url).status_code == 200
        self.backend.finalized(self.newest)
        return url

    def _locked(self, branded: bool) -> str:
        url = self.asked(branded=branded)[0]
        for _ in range(4):
            five_wrong(url)
        return url

    def _not_found(self, branded: bool) -> str:
        return f"{self.base_url}/sign/not-the-whole-link"

    def _ask(self, branded: bool) -> str:
        return f"{self.asked(branded=branded)[0]}/ask"

    def _approve(self, branded: bool) -> str:
        return self.asked(branded=branded, signers=2, approvers=1)[0]

    def _decline(self, branded: bool) -> str:
        return f"{self.asked(branded=branded, decline_allowed=True)[0]}/decline"

    def _declined(self, branded: bool) -> str:
        url = self.asked(branded=branded, decline_allowed=True)[0]
        assert httpx.post(f"{url}/decline", json={"reason": "The rent is wrong."}, timeout=30).status_code == 200
        return url

    def _withdrawn(self, branded: bool) -> str:
        url = self.asked(branded=branded)[0]
        self.withdraw(self.newest, "The price has changed.")
        return url

    def _replaced(self, branded: bool) -> str:
        url = self.asked(branded=branded)[0]
        signer_id = self.backend.read(self.newest)["signers"][0]["id"]
        path = f"signature_requests/{self.newest}/signers/{signer_id}/correct"
        assert self.backend.call("POST", path, json={"email": "another@example.org"}).status_code == 200
        return url

    def withdraw(self, request_id: int, reason: str) -> None:
        answer = self.backend.call("POST", f"signature_requests/{request_id}/end", json={"reason": reason})
        assert answer.status_code == 200

    def _copies(self, branded: bool) -> str:
        person = {"first_name": "Carla", "last_name": "Rossi", "email": "carla@example.com"}
        url = self.asked(branded=branded, copies=[person])[0]
        assert sign(url).status_code == 200
        self.backend.told(self.newest, "request.completion_notified")
        text = next(mail["text"] for mail in reversed(self.inbox()) if mail["to"] == person["email"])
        return next(line for line in text.splitlines() if "/copies/" in line and line.count("/") == 4)

    def _text(self, branded: bool) -> str:
        return f"{self.asked(branded=branded)[0]}/documents/{self.document()}/text"

    def _unreachable(self, branded: bool) -> str:
        """A signer whose phone cannot be reached."""
        return self.asked(branded=branded, more={"phone": "+46701740605", "otp_channel": "sms"})[0]

    def expire(self, request_id: int) -> None:
        with psycopg.connect(embedded_url(self.data_dir, None)) as connection:
            connection.execute(_EXPIRE, [request_id])

    @contextmanager
    def sealing_paused(self) -> Iterator[None]:
        """Put off jobs that seal for as long as the block runs."""
        with psycopg.connect(embedded_url(self.data_dir, None), autocommit=True) as connection:
            connection.execute(_PUT_OFF)
            try:
                yield
            finally:
                connection.execute(_GO_ON)


def wrong_for(code: str) -> str:
    return f"{(int(code) + 1) % 10**6:06}"


def five_wrong(url: str) -> None:
    """Have a new code sent, and enter a wrong code five times."""
    wrong = wrong_for(code_for(url))
    assert [sign(url, wrong).status_code for _ in range(5)] == [422, 422, 422, 422, 422]


def until(holds: Any, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
