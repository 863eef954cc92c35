"""What programs keep and what signers are told, over HTTP against a real service: a template is sent to be signed and
sealed; a signer is reminded; a request is withdrawn, and everybody who was invited hears of it once."""

from pathlib import Path
from typing import Any

import httpx

from tests.cli.service import Service, wait_until
from tests.contract import contract
from tests.independent import assert_sealed
from tests.scenarios.people import Backend, at, sign, under

LEASE = {
    "name": "Lease",
    "mode": "sequential",
    "validity_days": 30,
    "roles": [{"name": "Landlord"}, {"name": "Tenant", "otp_channel": "email"}],
}


def test_a_template_is_signed_as_any_request(service: Service, tmp_path: Path) -> None:
    backend = Backend(service.base_url, service.new_key("pro"))
    placed = [
        {"role": "Landlord", "stamps": [under("{{signature:landlord}}")]},
        {"role": "Tenant", "stamps": [at(3, 316, 500)]},
    ]
    documents = [{"id": backend.upload(contract(), "lease.pdf"), "roles": placed}]
    kept = backend.call("POST", "templates", json={"template": LEASE | {"documents": documents}}).json()
    assert backend.call("GET", f"templates/{kept['id']}").json()["documents"] == documents
    people = [
        {"role": "Tenant", "first_name": "Ana", "last_name": "Costa", "email": "ana@example.com"},
        {"role": "Landlord", "first_name": "Zoë", "last_name": "Lindqvist", "email": "zoe@example.com"},
    ]
    path, key = f"templates/{kept['id']}/signature_requests", {"Idempotency-Key": "one"}
    answers = [backend.call("POST", path, json={"signature_request": {"signers": people}}, headers=key) for _ in "12"]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json() and answers[1].headers["Idempotent-Replayed"] == "true"
    landlord, tenant = sorted(answers[0].json()["signers"], key=lambda each: int(each["order"]))
    assert (landlord["first_name"], tenant["first_name"]) == ("Zoë", "Ana")
    assert sign(landlord["signing_url"]).status_code == sign(tenant["signing_url"]).status_code == 200
    [urls] = backend.finalized(answers[0].json()["id"])["download_urls"]
    signed = httpx.get(urls["signed_url"]).content
    (tmp_path / "signed.pdf").write_bytes(signed)
    assert_sealed(tmp_path / "signed.pdf", service.root)


def test_signers_are_reminded_and_told_that_it_was_withdrawn(service: Service) -> None:
    backend = Backend(service.base_url, service.new_key("pro"))
    options = {"mode": "sequential", "send_email": True, "identity_declaration_accepted": True}
    lease = backend.upload(contract(), "Lease.pdf")
    made = backend.ask("withdrawn-1", "withdrawn-2", "withdrawn-3", document=lease, **options)
    addresses = [each["signing_url"] for each in made["signers"]]
    mailed(service, "withdrawn-1@example.com", "asks you to sign")
    assert sign(addresses[0]).status_code == 200
    mailed(service, "withdrawn-2@example.com", "asks you to sign")

    second = f"signature_requests/{made['id']}/signers/{made['signers'][1]['id']}/remind"
    answer = backend.call("POST", second)
    while answer.status_code == 409:  # the invitation is out, but not yet noted
        answer = backend.call("POST", second)
    assert answer.status_code == 200
    assert "asked you on" in mailed(service, "withdrawn-2@example.com", "Reminder: ")["text"]

    ended = backend.call("POST", f"signature_requests/{made['id']}/end", json={"reason": "The rent has changed."})
    assert ended.status_code == 200 and ended.json()["status"] == "expired"
    for number in (1, 2):
        text = mailed(service, f"withdrawn-{number}@example.com", "withdrew the request")["text"]
        assert "> The rent has changed." in text and "Lease.pdf" in text
    for address in addresses[1:]:
        page = httpx.get(address)
        assert page.status_code == 410 and 'data-state="withdrawn"' in page.text
    assert "withdrawn-3@example.com" not in {mail["to"] for mail in service.inbox()}, "who was not invited"


def mailed(service: Service, to: str, subject: str) -> Any:
    """Wait until the mail is there, and return it."""

    def found() -> list[Any]:
        return [mail for mail in service.inbox() if mail["to"] == to and subject in mail["subject"]]

    wait_until(lambda: bool(found()))
    [mail] = found()
    return mail
