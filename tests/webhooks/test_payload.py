"""What goes over the wire (rule 6.1), and the examples of docs/webhooks.md that verify it."""

import hashlib
import hmac
import json
import re
import shutil
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from paraph.audit_trail.models import Entry
from paraph.kernel import clock
from paraph.webhooks.models import Delivery
from paraph.webhooks.outbox import release, signature
from tests.docs.blocks import changed, shape
from tests.factories import seal_everything
from tests.webhooks.parties import prepared_deliveries, record, told

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
    documented = re.findall(r"^([\w-]+): ", changed("docs/webhooks.md", "POST ", {}), re.MULTILINE)
    assert documented == [name for name in delivery.headers if name != "User-Agent"]


def test_a_callback_is_signed_with_the_applications_secret_and_sent_over_https_only() -> None:
    made, secret = told(callback_url="https://callback.example/")
    record(made.request, "request.expired")
    webhook, callback = sorted(prepared_deliveries(), key=lambda each: each.claimed.delivery_id)
    assert callback.claimed.destination == "callback" and callback.schemes == ("https",)
    assert callback.headers["X-Service-Signature"] == signature(secret, callback.body)
    assert callback.headers["X-Service-Event-Id"] == webhook.headers["X-Service-Event-Id"]


def test_completion_links_to_every_document_in_order_and_to_the_proof() -> None:
    made, _ = told(documents=3)
    record(made.request, "request.completed")
    *keys, proof = seal_everything(made.request)
    release(made.request.pk)
    [delivery] = prepared_deliveries()
    content = json.loads(delivery.body)
    links = ["documents", "certificate_url", "certificate_expires_in"]
    assert list(content) == ["event", "occurred_at", "signature_request", *links]
    assert shape(json.loads(changed("docs/webhooks.md", "{\n", {}))) == shape(content)
    for entry, row, key in zip(content["documents"], made.request_documents, keys, strict=True):
        assert set(entry) == {"document_id", "signed_url", "expires_in"}
        assert (entry["document_id"], entry["expires_in"]) == (row.document_id, 900)
        assert urlsplit(entry["signed_url"]).path == f"/files/{key}"
    assert urlsplit(content["certificate_url"]).path == f"/files/{proof}"
    assert content["certificate_expires_in"] == 900


def test_links_are_made_at_sending_and_never_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = told()
    record(made.request, "request.completed")
    seal_everything(made.request)
    release(made.request.pk)
    [first] = prepared_deliveries()
    Delivery.objects.update(status="waiting")
    later = clock.now() + timedelta(hours=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    [second] = prepared_deliveries()
    expiries = [
        int(parse_qs(urlsplit(json.loads(delivery.body)["certificate_url"]).query)["expires"][0])
        for delivery in (first, second)
    ]
    assert expiries[1] == int(later.timestamp()) + 900
    assert expiries[1] - expiries[0] == pytest.approx(3600, abs=5)
    stored = Delivery.objects.get().payload
    assert "url" not in stored and "files" not in stored


_GUIDE = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text()
_BODY = '{"event":"signer.signed","signer":{"first_name":"Émile"}}'
_SECRET = "5e" * 32


def example(language: str, function: str) -> str:
    """Return the source of this function in the guide's example, without its imports."""
    [code] = re.findall(rf"```{language}\n(.*?)```", _GUIDE, re.DOTALL)
    ends = {"python": r"\n\n\n", "javascript": r"\n}\n"}[language]
    [body] = re.findall(rf"(?:def|function) {function}.*?{ends}", code, re.DOTALL)
    return str(body)


def test_python() -> None:
    names: dict[str, Any] = {}
    exec("import hashlib, hmac\n" + example("python", "is_genuine"), names)
    given = signature(_SECRET, _BODY.encode())
    assert names["is_genuine"](_BODY.encode(), given, _SECRET)
    assert not names["is_genuine"](_BODY.encode() + b" ", given, _SECRET)
    assert not names["is_genuine"](_BODY.encode(), "", _SECRET)


def test_node() -> None:
    node = shutil.which("node")
    if not node:
        pytest.skip("node is missing (Debian package nodejs)")
    given = signature(_SECRET, _BODY.encode())
    calls = f"""
        const body = Buffer.from({_BODY!r});
        console.log(isGenuine(body, "{given}", "{_SECRET}"), isGenuine(body, "{given[:-1]}0x", "{_SECRET}"),
            isGenuine(Buffer.from("{{}}"), "{given}", "{_SECRET}"), isGenuine(body, undefined, "{_SECRET}"));
    """
    script = 'const crypto = require("node:crypto");\n' + example("javascript", "isGenuine") + calls
    done = subprocess.run([node, "-e", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["true", "false", "false", "false"]


def test_operators_are_asked_to_announce_a_change_of_address() -> None:
    assert "Announce a change of the address 30 days ahead." in _GUIDE
    assert "The address complements the signature, it never replaces it." in _GUIDE
