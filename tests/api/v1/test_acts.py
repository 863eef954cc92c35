"""Ending a request and reminding a signer, by the API."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from paraph.audit_trail.models import Entry
from paraph.flow.sending.invite import invite, send_reminder
from paraph.kernel import clock
from paraph.messaging.models import CapturedMessage
from paraph.signature_requests.models import Reminder, SignatureRequest, Signer
from paraph.tenants.models import Activity
from tests.api.v1.api_clients import ApiClient, error, invalid, made, payload
from tests.api.v1.contract import refusals

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


def said(operation: str, name: str) -> str:
    """What the OpenAPI document has as the message."""
    return refusals(operation)[name]


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

    def test_five_times(self, owner: ApiClient, invited: dict[str, Any]) -> None:
        past = clock.now() - timedelta(days=2)
        for number in range(1, 6):
            Reminder.objects.create(signer_id=invited["signers"][0]["id"], number=number, asked_at=past)
        assert error(remind(owner, invited), 409, "conflict") == said("remindSigner", "conflict_most")

    def test_only_who_may_sign_now_and_was_invited(self, owner: ApiClient, invited: dict[str, Any]) -> None:
        def conflict(position: int = 0) -> str:
            return error(remind(owner, invited, position), 409, "conflict")

        assert conflict(1) == said("remindSigner", "conflict_turn")
        SignatureRequest.objects.update(status="expired")
        assert conflict() == said("remindSigner", "conflict_over")
        SignatureRequest.objects.update(status="pending")
        Signer.objects.filter(pk=invited["signers"][0]["id"]).update(status="signed")
        assert conflict() == said("remindSigner", "conflict_signed")
        assert conflict(1) == said("remindSigner", "conflict_not_invited")
        assert not Reminder.objects.exists()

    def test_where_the_request_sends_no_mails(self, owner: ApiClient) -> None:
        created = owner.create(payload(owner.document())).json()
        assert error(remind(owner, created), 409, "conflict") == said("remindSigner", "conflict_no_mails")
