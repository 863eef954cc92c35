"""What a client's backend hears while a request goes its way: a real service, a real receiver."""

import hashlib
import hmac
import json
from typing import Any

import httpx

from tests.cli.service import Service, wait_until
from tests.receiver import Received, answer, receiver
from tests.scenarios.people import Backend, sign


def request_of(backend: Backend) -> dict[str, Any]:
    return backend.ask("only", send_email=True, identity_declaration_accepted=True)


def test_every_event_arrives_signed_and_the_links_work(service: Service) -> None:
    with receiver() as hooks:
        application = service.new_application("free", "sandbox", "--webhook-url", hooks.url())
        backend = Backend(service.base_url, application["api_key"])
        request = request_of(backend)
        wait_until(lambda: len(hooks.received) == 1)
        assert sign(request["signers"][0]["signing_url"]).status_code == 200
        wait_until(lambda: len(hooks.received) == 4)
    contents = [_checked(received, application["webhook_secret"]) for received in hooks.received]
    by_event = {content["event"]: content for content in contents}
    assert next(iter(by_event)) == "signer.notified"
    assert set(by_event) == {"signer.notified", "signer.otp_sent", "signer.signed", "request.completed"}
    assert by_event["signer.notified"]["signer"]["status"] == "notified"
    assert by_event["signer.signed"]["signer"]["status"] == "signed"
    assert by_event["signer.signed"]["signature_request"]["status"] == "pending"
    completed = by_event["request.completed"]
    assert completed["signature_request"] == {"id": request["id"], "status": "completed", "mode": "parallel"}
    assert "signer" not in completed
    assert backend.read(request["id"])["finalized"] is True
    journal = {entry["event_type"]: entry for entry in backend.journal(request["id"])}
    assert completed["occurred_at"] == journal["request.completed"]["created_at"]
    signed = httpx.get(completed["documents"][0]["signed_url"]).content
    digest = journal["signature_request.pades_signed"]["metadata"]["signed_pdf_sha256"]
    assert hashlib.sha256(signed).hexdigest() == digest
    assert httpx.get(completed["certificate_url"]).content.startswith(b"%PDF-")
    _compare_with_events(backend, hooks.received)


def _compare_with_events(backend: Backend, received: list[Received]) -> None:
    """Assert that the API lists the events that were sent, with the ids of headers and audit log, and its own links."""
    listed = backend.call("GET", "events").json()["data"]
    sent = {int(each.headers["X-Service-Event-Id"]): json.loads(each.body) for each in received}
    assert {each["id"] for each in listed} == set(sent) and len(listed) == len(received)
    journal = backend.journal(listed[0]["signature_request"]["id"])
    for each in listed:
        assert (each.pop("id"), each["event"]) in {(entry["id"], entry["event_type"]) for entry in journal}
        assert each.keys() == next(body for body in sent.values() if body["event"] == each["event"]).keys()
    assert listed[-1]["event"] == "request.completed"
    assert httpx.get(listed[-1]["certificate_url"]).content.startswith(b"%PDF-")


def _checked(received: Received, secret: str) -> dict[str, Any]:
    """Return the content, after checking it as docs/webhooks.md tells integrators to."""
    expected = "sha256=" + hmac.new(secret.encode(), received.body, hashlib.sha256).hexdigest()
    assert hmac.compare_digest(received.headers["X-Service-Signature"], expected)
    content: dict[str, Any] = json.loads(received.body)
    assert received.headers["X-Service-Event"] == content["event"]
    return content


def test_operators_see_deliveries_and_send_them_again(service: Service) -> None:
    with receiver(answer(500)) as hooks:
        application = service.new_application("free", "sandbox", "--webhook-url", hooks.url())
        request = request_of(Backend(service.base_url, application["api_key"]))
        wait_until(lambda: _of_request(service, request["id"])["last_status"] == 500)
        delivery = _of_request(service, request["id"])
        assert (delivery["event"], delivery["status"], delivery["attempts"]) == ("signer.notified", "waiting", 1)
        assert delivery["next_attempt_at"] > delivery["last_attempt_at"]
        assert delivery not in service.command("webhook", "list", "--failed")
        hooks.behave = answer(204)
        assert service.command("webhook", "replay", str(delivery["id"])) == {"replayed": 1}
        wait_until(lambda: _of_request(service, request["id"])["status"] == "delivered")
        assert service.command("webhook", "replay", "--request", str(request["id"])) == {"replayed": 1}
        wait_until(lambda: len(hooks.received) == 3)
        assert service.command("webhook", "replay", "--since", "2000-01-01") == {"replayed": 0}
    assert len({received.headers["X-Service-Delivery"] for received in hooks.received}) == 3
    assert len({received.headers["X-Service-Event-Id"] for received in hooks.received}) == 1


def _of_request(service: Service, request_id: int) -> dict[str, Any]:
    found: list[dict[str, Any]] = service.command("webhook", "list")
    [delivery] = [delivery for delivery in found if delivery["request_id"] == request_id]
    return delivery
