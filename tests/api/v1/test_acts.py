"""What is done with a request that was sent, by the API: ending it, reminding or correcting a signer (rule 20), and
giving it more time."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from paraph.audit_trail.models import Entry
from paraph.flow.sending.invite import invite, send_reminder
from paraph.kernel import clock
from paraph.messaging.gateways import SMS
from paraph.messaging.models import CapturedMessage
from paraph.signature_requests import plan
from paraph.signature_requests.models import Reminder, SignatureRequest, Signer
from paraph.tenants.models import Activity, ActorKind
from tests.api.v1.api_clients import ApiClient, api_client, error, invalid, made, payload
from tests.api.v1.contract import said

pytestmark = pytest.mark.django_db
ASKED = {"send_email": True, "identity_declaration_accepted": True}


@pytest.fixture
def created(owner: ApiClient) -> dict[str, Any]:
    return made(owner.create(payload(owner.document(), **ASKED)))


@pytest.fixture
def invited(created: dict[str, Any]) -> dict[str, Any]:
    invite(created["signers"][0]["id"])
    CapturedMessage.objects.all().delete()
    return created


def end(client: ApiClient, request_id: int, content: Any) -> Any:
    return client.post(f"/signature_requests/{request_id}/end", content)


def remind(client: ApiClient, created: dict[str, Any], position: int = 0) -> Any:
    signer = created["signers"][position]["id"]
    return client.send("POST", f"/signature_requests/{created['id']}/signers/{signer}/remind")


def correct(client: ApiClient, invited: dict[str, Any], content: Any, position: int = 0) -> Any:
    signer = invited["signers"][position]["id"]
    return client.post(f"/signature_requests/{invited['id']}/signers/{signer}/correct", content)


def extend(client: ApiClient, invited: dict[str, Any], content: Any) -> Any:
    return client.post(f"/signature_requests/{invited['id']}/extend", content)


class TestEnding:
    def test_the_answer_is_the_request_and_says_why(self, owner: ApiClient, created: dict[str, Any]) -> None:
        assert (created["ended_early"], created["ended_reason"]) == (False, None)
        response = end(owner, created["id"], {"reason": " Signed on paper. "})
        assert response.status_code == 200
        answer = response.json()
        told = {"status": "expired", "ended_early": True, "ended_reason": "Signed on paper."}
        assert answer == created | {"finalized": False} | told
        assert owner.get(f"/signature_requests/{created['id']}").json() == answer
        assert owner.get("/signature_requests").json()["data"] == [answer]
        assert Entry.objects.latest("position").metadata["reason"] == "Signed on paper."
        act = Activity.objects.get()
        assert (act.actor_kind, act.action, act.subject) == ("api", "request.ended_early", f"request {created['id']}")
        assert act.actor_id == SignatureRequest.objects.get().application_id

    def test_what_is_over_cannot_be_ended(self, owner: ApiClient, created: dict[str, Any]) -> None:
        for status in ("completed", "expired"):
            SignatureRequest.objects.update(status=status)
            message = error(end(owner, created["id"], {"reason": "x"}), 409, "conflict")
            expected = said("endSignatureRequest", "conflict_over")
            assert message == expected.replace("71", str(created["id"])).replace("completed", status)
        assert not Activity.objects.exists()
        answer = owner.get(f"/signature_requests/{created['id']}").json()
        assert (answer["ended_early"], answer["ended_reason"]) == (False, None), "it expired in time"

    def test_a_reason_has_bounds(self, owner: ApiClient, created: dict[str, Any]) -> None:
        cases: list[tuple[Any, str]] = [
            ({}, "reason: it is required."),
            ({"reason": None}, "reason: it must be a string."),
            ({"reason": "  "}, "reason: it must not be empty."),
            ({"reason": "x" * 501}, said("endSignatureRequest", "validation_reason")),
            ({"reason": "two\nlines"}, "reason: it must not contain control characters or lone surrogates."),
            ([], "The body must be a JSON object."),
            ("x", "The body must be a JSON object."),
        ]
        for content, sentence in cases:
            assert invalid(end(owner, created["id"], content)) == sentence
            assert SignatureRequest.objects.get().status == "pending"

    @pytest.mark.parametrize("reason", ["x" * 500, "Signé\u00a0: papier", "کاغذ می\u200cشود", "👩\u200d💻"])
    def test_a_reason_in_any_script(self, owner: ApiClient, created: dict[str, Any], reason: str) -> None:
        assert end(owner, created["id"], {"reason": reason}).json()["ended_reason"] == reason

    def test_a_body_that_cannot_be_read(self, owner: ApiClient, created: dict[str, Any]) -> None:
        path = f"/signature_requests/{created['id']}/end"
        message = invalid(owner.send("POST", path, b'{"reason":}'))
        assert message == said("endSignatureRequest", "validation_json")
        message = error(owner.send("POST", path, b"{}", "text/plain"), 415, "unsupported_media_type")
        assert message == said("endSignatureRequest", "unsupported_media_type")
        message = error(owner.send("POST", path, b" " * (4 * 1024 * 1024 + 1)), 413, "payload_too_large")
        assert message == said("endSignatureRequest", "payload_too_large")


class TestReminding:
    def test_the_answer_is_the_signer_and_the_mail_goes_out(self, owner: ApiClient, invited: dict[str, Any]) -> None:
        response = remind(owner, invited)
        assert response.status_code == 200
        assert response.json() == invited["signers"][0] | {"status": "notified"}
        send_reminder(invited["signers"][0]["id"], 1)
        assert CapturedMessage.objects.get().to == "ada@example.com"
        assert Entry.objects.latest("position").metadata["reminder"] is True
        act = Activity.objects.get()
        assert (act.actor_kind, act.action) == ("api", "signer.reminded")

    def test_once_in_24_hours(self, owner: ApiClient, invited: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
        remind(owner, invited)
        asked = datetime(2026, 11, 29, 2, 45, tzinfo=UTC)
        Reminder.objects.update(asked_at=asked)
        SignatureRequest.objects.update(expires_at=asked + timedelta(days=9))
        monkeypatch.setattr(clock, "now", lambda: asked + timedelta(hours=20))
        response = remind(owner, invited)
        message = error(response, 429, "rate_limited")
        assert message == said("remindSigner", "rate_limited_reminder") and response["Retry-After"] == "14400"
        monkeypatch.setattr(clock, "now", lambda: asked + timedelta(hours=24))
        assert remind(owner, invited).status_code == 200

    def test_only_who_may_sign_now_was_invited_and_five_times(self, owner: ApiClient, invited: dict[str, Any]) -> None:
        def conflict(position: int = 0, request: dict[str, Any] = invited) -> str:
            return error(remind(owner, request, position), 409, "conflict")

        assert conflict(1) == said("remindSigner", "conflict_turn")
        SignatureRequest.objects.update(status="expired")
        assert conflict() == said("remindSigner", "conflict_over")
        SignatureRequest.objects.update(status="pending")
        Signer.objects.filter(pk=invited["signers"][0]["id"]).update(status="signed")
        assert conflict() == said("remindSigner", "conflict_signed")
        assert conflict(1) == said("remindSigner", "conflict_not_invited")
        mailing_nobody = owner.create(payload(owner.document())).json()
        assert conflict(0, mailing_nobody) == said("remindSigner", "conflict_no_mails")
        assert not Reminder.objects.exists()
        Signer.objects.filter(pk=invited["signers"][0]["id"]).update(status="notified")
        past = clock.now() - timedelta(days=2)
        for number in range(1, 6):
            Reminder.objects.create(signer_id=invited["signers"][0]["id"], number=number, asked_at=past)
        assert conflict() == said("remindSigner", "conflict_most")


NEW = "zoe.lindqvist@example.com"


class TestCorrecting:
    def test_the_answer_is_the_request_with_another_link(self, owner: ApiClient, invited: dict[str, Any]) -> None:
        response = correct(owner, invited, {"email": NEW, "first_name": "Zoë", "language": "sv"})
        assert response.status_code == 200
        answer = response.json()
        before, now = invited["signers"][0], answer["signers"][0]
        told = {"email": NEW, "first_name": "Zoë", "full_name": f"Zoë {before['last_name']}", "status": "pending"}
        told["language"] = "sv"
        assert now == before | told | {"signing_url": now["signing_url"]}
        assert now["signing_url"] != before["signing_url"]
        assert answer == invited | {"finalized": False, "signers": [now, *answer["signers"][1:]]}
        assert owner.get(f"/signature_requests/{invited['id']}").json() == answer
        assert Signer.objects.get(pk=now["id"]).locale == "sv"
        logged = owner.get(f"/signature_requests/{invited['id']}/audit_logs").json()["data"][-1]
        assert (logged["event_type"], logged["signer_id"]) == ("signer.corrected", now["id"])
        facts, fields = logged["metadata"], {"email", "first_name", "language"}
        assert set(facts["corrected"]) == set(facts["before"]) == set(facts["after"]) == fields
        assert not any(value in str(logged) for value in (NEW, "ada@", "Zoë"))
        invite(now["id"])
        assert CapturedMessage.objects.get().to == NEW
        act = Activity.objects.get()
        assert (act.actor_kind, act.action) == (ActorKind.API, "signer.corrected")

    def test_who_has_signed_what_is_over_and_too_often_is_409(self, owner: ApiClient, invited: dict[str, Any]) -> None:
        def told(code: str) -> str:
            return error(correct(owner, invited, {"email": NEW}), 409, code)

        Signer.objects.update(replaced_links=100)
        assert told("conflict") == said("correctSigner", "conflict_links")
        Signer.objects.update(status="signed", replaced_links=0)
        assert told("already_signed") == said("correctSigner", "already_signed")
        Signer.objects.update(status="pending")
        SignatureRequest.objects.update(status="expired")
        assert told("conflict") == said("correctSigner", "conflict_over")

    def test_sms_is_of_the_plan(self) -> None:
        free = api_client(plan="free")
        invited = free.create(payload(free.document())).json()
        message = error(correct(free, invited, {"otp_channel": "sms", "phone": "+33612345678"}), 403, "forbidden")
        assert message == said("correctSigner", "forbidden_sms")

    def test_what_is_wrong_is_named(self, owner: ApiClient, invited: dict[str, Any]) -> None:
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
            ({"email": invited["signers"][1]["email"].upper()}, said("correctSigner", "validation_correction")),
            ({"otp_channel": "sms"}, "phone: it is required, as otp_channel is sms."),
        ]
        for content, sentence in cases:
            assert invalid(correct(owner, invited, content)) == sentence
        assert invalid(correct(owner, invited, {"language": "xx"})).startswith("language: it must")
        assert owner.get(f"/signature_requests/{invited['id']}").json()["signers"][0]["email"] == "ada@example.com"


class TestExtending:
    def test_the_answer_is_the_request_with_its_new_end(self, owner: ApiClient, invited: dict[str, Any]) -> None:
        response = extend(owner, invited, {"validity_days": 90})
        assert response.status_code == 200
        answer = response.json()
        assert answer["expires_at"] > invited["expires_at"] and answer["validity_days"] == invited["validity_days"]
        entry = Entry.objects.latest("position")
        assert entry.metadata == {"extended_from": invited["expires_at"], "extended_to": answer["expires_at"]}
        told = owner.get(f"/signature_requests/{invited['id']}/audit_logs").json()["data"][-1]
        assert told["event_type"] == "request.extended" and told["metadata"] == entry.metadata

    def test_what_is_wrong_is_named(self, owner: ApiClient, invited: dict[str, Any]) -> None:
        cases: list[tuple[Any, str]] = [
            ({}, "validity_days: it is required."),
            ({"validity_days": 91}, "validity_days: it must be from 1 to 90, not 91."),
            ({"validity_days": 0}, "validity_days: it must be from 1 to 90, not 0."),
            ({"validity_days": "9"}, "validity_days: it must be an integer."),
        ]
        for content, sentence in cases:
            assert invalid(extend(owner, invited, content)) == sentence
        earlier = invalid(extend(owner, invited, {"validity_days": 1}))
        day, moment = invited["expires_at"][:10], invited["expires_at"][11:16]
        assert earlier == said("extendSignatureRequest", "validation_days").replace(
            "2030-06-15 14:02", f"{day} {moment}"
        )

    def test_what_is_over_is_409(self, owner: ApiClient, invited: dict[str, Any]) -> None:
        SignatureRequest.objects.update(status="completed")
        message = error(extend(owner, invited, {"validity_days": 90}), 409, "conflict")
        assert message == said("extendSignatureRequest", "conflict_over")


def test_codes_by_sms_that_nobody_would_receive(owner: ApiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a gateway they are refused in production, and kept in the sandbox."""

    def asked_by(client: ApiClient) -> Any:
        content = payload(client.document())
        content["signers"][0] |= {"otp_channel": "sms", "phone": "+33612345678"}
        return client.create(content)

    live, sentence = api_client(environment="production"), "this service has no SMS gateway, so nobody would receive"
    assert invalid(asked_by(live)) == f"signers[0].otp_channel: {sentence} the codes."
    assert asked_by(owner).status_code == 201
    monkeypatch.setattr(plan, "has_gateway", lambda channel: channel == SMS)
    assert asked_by(live).status_code == 201
