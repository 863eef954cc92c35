"""What goes over the wire (rule 6.1)."""

import hashlib
import hmac
import json
from urllib.parse import parse_qs, urlsplit

import pytest

from paraph.audit_trail.models import Entry
from paraph.evidence.models import ProofFile
from paraph.webhooks.models import Delivery
from paraph.webhooks.outbox import release
from tests.webhooks.parties import prepared_deliveries, record, seal_everything, told

pytestmark = pytest.mark.django_db


def test_headers_and_signature_of_the_raw_body() -> None:
    made, secret = told()
    record(made.request, "signer.notified", made.signers[0])
    [delivery] = prepared_deliveries()
    assert delivery.body == Delivery.objects.get().payload.encode()
    assert delivery.headers == {
        "Content-Type": "application/json",
        "User-Agent": "Paraph-Webhooks/1",
        "X-Service-Event": "signer.notified",
        "X-Service-Event-Id": str(Entry.objects.get(event_type="signer.notified").pk),
        "X-Service-Delivery": str(delivery.claimed.attempt_id),
        "X-Service-Signature": "sha256=" + hmac.new(secret.encode(), delivery.body, hashlib.sha256).hexdigest(),
    }
    assert delivery.schemes == ("https", "http")


def test_a_callback_is_signed_with_the_applications_secret_and_sent_over_https_only() -> None:
    made, secret = told("", callback_url="https://callback.example/")
    record(made.request, "request.expired")
    [delivery] = prepared_deliveries()
    expected = hmac.new(secret.encode(), delivery.body, hashlib.sha256).hexdigest()
    assert delivery.headers["X-Service-Signature"] == f"sha256={expected}"
    assert delivery.schemes == ("https",)


def test_webhook_and_callback_of_an_event_have_one_id() -> None:
    made, _ = told(callback_url="https://callback.example/")
    record(made.request, "request.expired")
    first, second = prepared_deliveries()
    assert first.headers["X-Service-Event-Id"] == second.headers["X-Service-Event-Id"]


def test_completion_links_to_every_document_in_order_and_to_the_proof() -> None:
    made, _ = told(documents=3)
    record(made.request, "request.completed")
    seal_everything(made)
    release(made.request.pk)
    [delivery] = prepared_deliveries()
    content = json.loads(delivery.body)
    assert list(content) == [
        "event",
        "occurred_at",
        "signature_request",
        "documents",
        "certificate_url",
        "certificate_expires_in",
    ]
    assert [entry["document_id"] for entry in content["documents"]] == [
        row.document_id for row in made.request_documents
    ]
    for entry, row in zip(content["documents"], made.request_documents, strict=True):
        assert set(entry) == {"document_id", "signed_url", "expires_in"}
        assert urlsplit(entry["signed_url"]).path == f"/files/sealed/{row.pk}.pdf"
        assert entry["expires_in"] == 900
    assert urlsplit(content["certificate_url"]).path == f"/files/{ProofFile.objects.get().object_key}"
    assert content["certificate_expires_in"] == 900


def test_links_are_made_at_sending_and_never_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = told()
    record(made.request, "request.completed")
    seal_everything(made)
    release(made.request.pk)
    [first] = prepared_deliveries()
    Delivery.objects.update(status="waiting")
    later = _moved(monkeypatch, 3600)
    [second] = prepared_deliveries()
    expiries = [
        int(parse_qs(urlsplit(json.loads(delivery.body)["certificate_url"]).query)["expires"][0])
        for delivery in (first, second)
    ]
    assert expiries[1] == int(later.timestamp()) + 900
    assert expiries[1] - expiries[0] == pytest.approx(3600, abs=5)
    stored = Delivery.objects.get().payload
    assert "url" not in stored
    assert "files" not in stored


def _moved(monkeypatch: pytest.MonkeyPatch, seconds: int):  # type: ignore[no-untyped-def]
    from datetime import timedelta

    from paraph.kernel import clock

    later = clock.now() + timedelta(seconds=seconds)
    monkeypatch.setattr(clock, "now", lambda: later)
    return later
