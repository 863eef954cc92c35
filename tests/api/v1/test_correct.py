"""Correcting a signer and extending a request, by the API (rule 20)."""

from typing import Any

import pytest

from paraph.audit_trail.models import Entry
from paraph.flow.sending.invite import invite
from paraph.messaging.gateways import SMS
from paraph.messaging.models import CapturedMessage
from paraph.signature_requests import plan
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.tenants.models import Activity, ActorKind
from tests.api.v1.api_clients import ApiClient, api_client, error, invalid, payload
from tests.api.v1.test_acts import ASKED, said

pytestmark = pytest.mark.django_db
NEW = "zoe.lindqvist@example.com"


@pytest.fixture
def created(owner: ApiClient) -> dict[str, Any]:
    answer: dict[str, Any] = owner.create(payload(owner.document(), **ASKED)).json()
    invite(answer["signers"][0]["id"])
    CapturedMessage.objects.all().delete()
    return answer


def correct(client: ApiClient, created: dict[str, Any], content: Any, position: int = 0) -> Any:
    signer = created["signers"][position]["id"]
    return client.post(f"/signature_requests/{created['id']}/signers/{signer}/correct", content)


def extend(client: ApiClient, created: dict[str, Any], content: Any) -> Any:
    return client.post(f"/signature_requests/{created['id']}/extend", content)


class TestCorrecting:
    def test_the_answer_is_the_request_with_another_link(self, owner: ApiClient, created: dict[str, Any]) -> None:
        response = correct(owner, created, {"email": NEW, "first_name": "Zoë", "language": "sv"})
        assert response.status_code == 200
        answer = response.json()
        before, now = created["signers"][0], answer["signers"][0]
        told = {"email": NEW, "first_name": "Zoë", "full_name": f"Zoë {before['last_name']}", "status": "pending"}
        told["language"] = "sv"
        assert now == before | told | {"signing_url": now["signing_url"]}
        assert now["signing_url"] != before["signing_url"]
        assert answer == created | {"finalized": False, "signers": [now, *answer["signers"][1:]]}
        assert owner.get(f"/signature_requests/{created['id']}").json() == answer
        assert Signer.objects.get(pk=now["id"]).locale == "sv"
        invite(now["id"])
        assert CapturedMessage.objects.get().to == NEW
        act = Activity.objects.get()
        assert (act.actor_kind, act.action) == (ActorKind.API, "signer.corrected")

    def test_the_audit_log_names_the_fields_and_no_values(self, owner: ApiClient, created: dict[str, Any]) -> None:
        correct(owner, created, {"email": NEW, "language": "sv"})
        entry = owner.get(f"/signature_requests/{created['id']}/audit_logs").json()["data"][-1]
        assert (entry["event_type"], entry["signer_id"]) == ("signer.corrected", created["signers"][0]["id"])
        assert entry["metadata"]["corrected"] == ["email", "language"]
        assert set(entry["metadata"]["before"]) == set(entry["metadata"]["after"]) == {"email", "language"}
        assert NEW not in str(entry) and "ada@" not in str(entry)

    def test_who_has_signed_is_409(self, owner: ApiClient, created: dict[str, Any]) -> None:
        Signer.objects.filter(pk=created["signers"][0]["id"]).update(status="signed")
        message = error(correct(owner, created, {"email": NEW}), 409, "already_signed")
        assert message == said("correctSigner", "already_signed")

    def test_what_is_over_is_409(self, owner: ApiClient, created: dict[str, Any]) -> None:
        SignatureRequest.objects.update(status="expired")
        assert error(correct(owner, created, {"email": NEW}), 409, "conflict") == said("correctSigner", "conflict_over")

    def test_too_often_is_409(self, owner: ApiClient, created: dict[str, Any]) -> None:
        Signer.objects.update(replaced_links=100)
        message = error(correct(owner, created, {"email": NEW}), 409, "conflict")
        assert message == said("correctSigner", "conflict_links")

    def test_sms_is_of_the_plan(self) -> None:
        free = api_client(plan="free")
        created = free.create(payload(free.document())).json()
        message = error(correct(free, created, {"otp_channel": "sms", "phone": "+33612345678"}), 403, "forbidden")
        assert message == said("correctSigner", "forbidden_sms")

    def test_what_is_wrong_is_named(self, owner: ApiClient, created: dict[str, Any]) -> None:
        names = "first_name, last_name, email, phone, otp_channel, language"
        cases: list[tuple[Any, str]] = [
            ({}, f"The body must have at least one of {names}."),
            ({"email": None}, f"The body must have at least one of {names}."),
            ({"email": "x"}, "email: “x” is not an e-mail address."),
            ({"first_name": " "}, "first_name: it must not be empty."),
            ({"otp_channel": "fax"}, "otp_channel: it must be one of email, sms."),
            ({"order": 2}, "order: there is no such field here."),
            ({"e_mail": NEW}, "e_mail: there is no such field here; did you mean email?"),
            ({"email": "ada@example.com"}, "Nothing changes: the signer has these values already."),
            ({"email": created["signers"][1]["email"]}, said("correctSigner", "validation_correction")),
            ({"otp_channel": "sms"}, "phone: it is required, as otp_channel is sms."),
        ]
        for content, sentence in cases:
            assert invalid(correct(owner, created, content)) == sentence
        assert invalid(correct(owner, created, {"language": "xx"})).startswith("language: it must")
        assert owner.get(f"/signature_requests/{created['id']}").json()["signers"][0]["email"] == "ada@example.com"


class TestExtending:
    def test_the_answer_is_the_request_with_its_new_end(self, owner: ApiClient, created: dict[str, Any]) -> None:
        response = extend(owner, created, {"validity_days": 90})
        assert response.status_code == 200
        answer = response.json()
        assert answer["expires_at"] > created["expires_at"] and answer["validity_days"] == created["validity_days"]
        entry = Entry.objects.latest("position")
        assert entry.metadata == {"extended_from": created["expires_at"], "extended_to": answer["expires_at"]}
        told = owner.get(f"/signature_requests/{created['id']}/audit_logs").json()["data"][-1]
        assert told["event_type"] == "request.extended" and told["metadata"] == entry.metadata

    def test_what_is_wrong_is_named(self, owner: ApiClient, created: dict[str, Any]) -> None:
        cases: list[tuple[Any, str]] = [
            ({}, "validity_days: it is required."),
            ({"validity_days": 91}, "validity_days: it must be from 1 to 90, not 91."),
            ({"validity_days": 0}, "validity_days: it must be from 1 to 90, not 0."),
            ({"validity_days": "9"}, "validity_days: it must be an integer."),
        ]
        for content, sentence in cases:
            assert invalid(extend(owner, created, content)) == sentence
        earlier = invalid(extend(owner, created, {"validity_days": 1}))
        day, moment = created["expires_at"][:10], created["expires_at"][11:16]
        assert earlier == said("extendSignatureRequest", "validation_days").replace(
            "2030-06-15 14:02", f"{day} {moment}"
        )

    def test_what_is_over_is_409(self, owner: ApiClient, created: dict[str, Any]) -> None:
        SignatureRequest.objects.update(status="completed")
        message = error(extend(owner, created, {"validity_days": 90}), 409, "conflict")
        assert message == said("extendSignatureRequest", "conflict_over")


class TestCodesBySms:
    """Without a gateway nobody would receive them: refused in production, kept in the sandbox."""

    def people(self, client: ApiClient) -> dict[str, Any]:
        content = payload(client.document())
        content["signers"][0] |= {"otp_channel": "sms", "phone": "+33612345678"}
        return content

    def test_in_production(self, monkeypatch: pytest.MonkeyPatch) -> None:
        live = api_client(environment="production")
        content = self.people(live)
        sentence = "signers[0].otp_channel: this service has no SMS gateway, so nobody would receive the codes."
        assert invalid(live.create(content)) == sentence
        monkeypatch.setattr(plan, "has_gateway", lambda channel: channel == SMS)
        assert live.create(content).status_code == 201

    def test_in_the_sandbox(self, owner: ApiClient) -> None:
        assert owner.create(self.people(owner)).status_code == 201
