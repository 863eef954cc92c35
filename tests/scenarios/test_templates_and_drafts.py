"""Templates and drafts over HTTP against a real service: a program keeps a template and sends it to be signed and
sealed; it prepares a draft, and a member signs in at its address and sends it."""

import re
from typing import Any, Self

import httpx
import pytest

from tests.contract import contract
from tests.independent import assert_sealed
from tests.scenarios.conftest import Service
from tests.scenarios.people import Backend, at, sign, under

PASSWORD = "a long enough phrase"
LEASE = {
    "name": "Lease",
    "mode": "sequential",
    "validity_days": 30,
    "roles": [{"name": "Landlord"}, {"name": "Tenant", "otp_channel": "email"}],
}


@pytest.mark.parametrize("environment", ["sandbox", "production"])
def test_a_template_is_signed_as_any_request(service: Service, environment: str, tmp_path: Any) -> None:
    backend = Backend(service.url, service.new_key("pro", environment))
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
    if environment == "production":  # whose codes are mailed, and not told
        return
    assert sign(landlord["signing_url"]).status_code == sign(tenant["signing_url"]).status_code == 200
    [urls] = backend.finalized(answers[0].json()["id"])["download_urls"]
    signed = httpx.get(urls["signed_url"]).content
    (tmp_path / "signed.pdf").write_bytes(signed)
    assert_sealed(tmp_path / "signed.pdf", service.root_pem)


class MemberInABrowser:
    """Somebody who follows an address and has to sign in first."""

    def __init__(self, service: Service, organization: int, role: str) -> None:
        self.email = f"{role}-{organization}@example.com"
        options = ["--organization", str(organization), "--email", self.email, "--role", role]
        link = httpx.URL(service.operate("member", "create", *options)["link"])
        self.http = httpx.Client(base_url=service.url, follow_redirects=True, timeout=60)
        page = self.http.get(link.path)
        self.post(page, {"password1": PASSWORD, "password2": PASSWORD})
        self.http.cookies.clear()

    def post(self, page: httpx.Response, content: dict[str, str]) -> httpx.Response:
        """The form of the page, sent."""
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
        assert token, page.text
        return self.http.post(
            page.url, data={"csrfmiddlewaretoken": token[1], **content}, headers={"Referer": str(page.url)}
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.http.close()

    def opened(self, address: str) -> httpx.Response:
        page = self.http.get(address)
        assert page.url.path == "/account/login/"
        return self.post(page, {"login": self.email, "password": PASSWORD})


@pytest.mark.thorough
def test_a_machine_prepares_and_a_person_sends(service: Service) -> None:
    made = service.operate("organization", "create", "Harbour Homes", "--plan", "pro")
    options = ["--organization", str(made["id"]), "--environment", "production", "--name", "Assistant"]
    backend = Backend(service.url, service.operate("application", "create", *options)["api_key"])
    person = {"ref": "tenant", "first_name": "Ana", "last_name": "Costa", "email": "ana@example.com"}
    placed = [{"signer_ref": "tenant", "stamps": [at(3, 316, 500)]}]
    whole = {"signers": [person], "documents": [{"id": backend.upload(contract(), "lease.pdf"), "signers": placed}]}
    drafts = [
        backend.call("POST", "drafts", json={"signature_request": request}).json()
        for request in (whole, {"signers": [{"first_name": "Ana"}]})
    ]
    with MemberInABrowser(service, made["id"], "member") as member:
        page = member.opened(drafts[0]["review_url"])
        assert str(page.url) == drafts[0]["review_url"].replace("//localhost:", f"//{page.url.host}:")
        assert "Assistant prepared this request." in page.text and "cannot be sent yet" not in page.text
        unfinished = member.http.get(drafts[1]["review_url"])
        assert "Ana still lacks: Last name, E-mail." in unfinished.text and "Add a document first." in unfinished.text
        sent = member.post(page, {"title": "", "locale": "en", "validity_days": "14", "action": "send"})
        state = backend.call("GET", f"drafts/{drafts[0]['id']}").json()
        assert state["status"] == "sent" and sent.url.path.endswith(f"/requests/{state['signature_request_id']}")
        assert backend.read(state["signature_request_id"])["validity_days"] == 14
        page = member.http.get(f"/app/{made['id']}/drafts")
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
        assert token
        member.http.post(
            f"/app/{made['id']}/drafts/{drafts[1]['id']}/delete",
            data={"csrfmiddlewaretoken": token[1]},
            headers={"Referer": str(page.url)},
        )
        assert backend.call("GET", f"drafts/{drafts[1]['id']}").json()["status"] == "discarded"
    other = service.operate("organization", "create", "Other", "--plan", "pro")
    for organization, role, status in ((other["id"], "owner", 404), (made["id"], "observer", 403)):
        with MemberInABrowser(service, organization, role) as somebody:
            assert somebody.opened(drafts[0]["review_url"]).status_code == status
