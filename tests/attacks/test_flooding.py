"""A key is no means to fill somebody's mailbox.

Registration is open here, as it is for whoever came by a key for nothing; mails go to a real mail server.
"""

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from email import message_from_bytes, policy
from typing import Any, cast

import httpx
import pytest

from tests.attacks.conftest import Target
from tests.cli.service import wait_until
from tests.factories import pdf
from tests.loopback import mail_server
from tests.scenarios.people import Backend, at, signer

pytestmark = pytest.mark.thorough

VICTIM = "victim@example.com"


class Mailbox:
    """``mails``: what the mail server took, by recipient."""

    def __init__(self) -> None:
        self.mails: list[tuple[str, Any]] = []

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        mail = cast(Any, message_from_bytes(envelope.content, policy=policy.default))
        self.mails += [(to.lower(), mail) for to in envelope.rcpt_tos]
        return "250 Ok"

    def to(self, address: str) -> list[Any]:
        return [mail for to, mail in self.mails if to == address]


@pytest.fixture(scope="module")
def box() -> Mailbox:
    return Mailbox()


@pytest.fixture(scope="module")
def attacked(new_target: Callable[..., Target], box: Mailbox) -> Iterator[Target]:
    with mail_server(box) as url:
        yield new_target(PARAPH_SMTP_URL=url, PARAPH_REGISTRATION="open")


@pytest.fixture(scope="module")
def other(attacked: Target) -> Backend:
    """A sender in production."""
    organization = attacked.command("organization", "create", "Elsewhere", "--plan", "pro")["id"]
    options = ["--organization", str(organization), "--environment", "production", "--name", "backend"]
    return attacked.backend(attacked.command("application", "create", *options)["api_key"])


def ask(backend: Backend, *addresses: str, document: int = 0) -> dict[str, Any]:
    """A request with a signer at each address, who is invited."""
    document = document or backend.upload(pdf())
    placed = [{"signer_ref": str(number), "stamps": [at()]} for number in range(len(addresses))]
    return backend.create(
        mode="parallel",
        validity_days=1,
        send_email=True,
        identity_declaration_accepted=True,
        signers=[signer(str(number)) | {"email": to} for number, to in enumerate(addresses)],
        documents=[{"id": document, "signers": placed}],
    )


def test_who_confirms_is_written_to_and_never_flooded(attacked: Target, box: Mailbox, other: Backend) -> None:
    """40 invitations and as many codes as can be asked for, from a free key: what comes of it from another organization
    in production comes all the same."""
    organization = attacked.command("organization", "create", "Acme", "--plan", "free")["id"]
    options = ["--organization", str(organization), "--environment", "sandbox", "--name", "free"]
    free = attacked.backend(attacked.command("application", "create", *options)["api_key"])
    attacked.command("organization", "confirm-address", str(organization), VICTIM)
    [question] = box.to(VICTIM)
    [link] = set(re.findall(r"http\S+/confirm/\S+", question.get_body(("plain",)).get_content()))
    assert httpx.get(link).status_code == 200 and '<form method="post">' in httpx.get(link).text
    assert httpx.post(link).status_code == 200

    document = free.upload(pdf())
    addresses = [VICTIM, VICTIM.upper(), VICTIM, "Victim@Example.com", VICTIM]
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: ask(free, *addresses, document=document), range(8)))
    wait_until(lambda: len(box.to(VICTIM)) == 10)
    urls = [request["signers"][0]["signing_url"] for request in made]
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda url: httpx.post(f"{url}/otp", json={"channel": "email"}, timeout=30), urls))
    assert {answer.status_code for answer in answers} == {429}
    assert {answer.json()["error"]["code"] for answer in answers} == {"rate_limited"}
    assert all(3000 < int(answer.headers["Retry-After"]) <= 3600 for answer in answers)
    time.sleep(1)
    assert len(box.to(VICTIM)) == 10
    [wanted] = ask(other, VICTIM)["signers"]
    wait_until(lambda: len(box.to(VICTIM)) == 11)
    assert httpx.post(f"{wanted['signing_url']}/otp", json={"channel": "email"}, timeout=30).status_code == 200
    assert len(box.to(VICTIM)) == 12

    def shown() -> Any:
        return attacked.command("request", "show", str(made[-1]["id"]))

    wait_until(lambda: all(one["notified_at"] or one["put_off"] for one in shown()["signers"]))
    told = [signer["delivery"] for request in made for signer in free.read(request["id"])["signers"]]
    assert sum(each is not None for each in told) >= 30
    assert all(each is None or re.fullmatch(r"20\d\d-.*Z", each["put_off_until"]) for each in told)
    state = shown()
    late = [one["put_off"]["mail"] for one in state["signers"] if not one["notified_at"]]
    assert set(late) <= {"invitation"} and ("put off until" in state["why"]) == bool(late)
    assert state["status"] == "pending"
    assert max((job["attempts"] for job in state["jobs"]), default=0) <= 1  # no storm of retries
