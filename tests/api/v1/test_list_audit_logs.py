"""GET /signature_requests/{id}/audit_logs (rule 4.8). Foreign ids: test_tenancy."""

from datetime import timedelta

import pytest

from paraph.audit_trail.journal import Origin, broken_at, follow
from paraph.audit_trail.models import Entry, EventType
from paraph.database.rows import insert
from paraph.flow.personal_data.erase import erase_signer
from paraph.kernel import clock
from paraph.otp.models import OneTimeCode
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.admin_log import OPERATOR
from tests.api.v1 import contract
from tests.api.v1.api_clients import ApiClient, payload

DAY = timedelta(days=1)


@pytest.fixture
def path(owner: ApiClient) -> str:
    """Return the path of the audit log of a request with three entries."""
    content = payload(owner.document(), identity_declaration_accepted=True)
    request = SignatureRequest.objects.get(pk=owner.create(content).json()["id"])
    signer = request.signers.first()
    assert signer
    facts = {"provider": "email", "resend": False}
    origin = Origin("203.0.113.9", "Firefox")
    insert([follow(request, "signer.otp_sent", signer_id=signer.pk, origin=origin, metadata=facts)])
    return f"/signature_requests/{request.pk}/audit_logs"


def test_entries_in_order(owner: ApiClient, path: str) -> None:
    response = owner.get(path)
    rows = list(Entry.objects.order_by("position"))
    assert response.json()["pagination"] == {"page": 1, "limit": 20, "count": 3, "pages": 1}
    created, declared, sent = response.json()["data"]
    assert created["event_type"] == "signature_request.created"
    assert declared["event_type"] == "signature_request.identity_declared"
    assert created["signer_id"] is declared["signer_id"] is None
    assert sent == {
        "id": rows[2].pk,
        "event_type": "signer.otp_sent",
        "signer_id": rows[2].signer_id,
        "ip": "203.0.113.9",
        "user_agent": "Firefox",
        "metadata": {"provider": "email", "resend": False},
        "created_at": clock.iso(rows[2].created_at),
    }


def test_all_entries_of_the_request_are_listed_and_no_others(owner: ApiClient, path: str) -> None:
    """Filters are ignored."""
    other = owner.create(payload(owner.document())).json()["id"]
    assert len(owner.get(path, status="x", order="desc", created_after="y").json()["data"]) == 3
    assert owner.get(f"/signature_requests/{other}/audit_logs").json()["pagination"]["count"] == 1


def test_the_document_names_the_event_types() -> None:
    documented = contract.content()["components"]["schemas"]["AuditLog"]["properties"]["event_type"]["enum"]
    assert documented == list(EventType)


def test_what_an_entry_does_not_know_is_absent(owner: ApiClient, path: str) -> None:
    """A seal from before there were timestamps has no key ``timestamped``."""
    request = SignatureRequest.objects.get()
    insert([follow(request, "signature_request.pades_signed", metadata={"signing_algorithm": "x"})])
    assert owner.get(path).json()["data"][-1]["metadata"] == {"signing_algorithm": "x"}


def test_wrong_codes_are_told_with_the_newest_code_of_their_signer(owner: ApiClient, path: str) -> None:
    request = SignatureRequest.objects.get()
    signer = request.signers.earliest("order")
    insert([follow(request, "signer.otp_sent", signer_id=signer.pk, metadata={"provider": "email", "resend": True})])
    now = clock.now()
    row = OneTimeCode.objects.create(signer=signer, code_hash=b"x", channel="email", destination="x", expires_at=now)
    assert all("wrong_codes" not in entry["metadata"] for entry in owner.get(path).json()["data"])
    for change, told in (
        ({"wrong_guesses": 3}, {"count": 3, "locked_until": None}),
        ({"locked_until": now + DAY}, {"count": 3, "locked_until": clock.iso(now + DAY)}),
        ({"locked_until": now}, {"count": 3, "locked_until": None}),
    ):
        OneTimeCode.objects.filter(pk=row.pk).update(**change)
        response = owner.get(path)
        first, newest = response.json()["data"][2:]
        assert first["metadata"] == {"provider": "email", "resend": False}
        assert newest["metadata"] == {"provider": "email", "resend": True, "wrong_codes": told}
    assert Entry.objects.latest("position").metadata == {"provider": "email", "resend": True}


def test_values_of_fields_are_readable_until_their_signer_is_erased(owner: ApiClient, path: str) -> None:
    request = SignatureRequest.objects.get()
    signer = request.signers.earliest("order")
    fields = [
        {"document_id": 7, "name": "iban", "type": "text", "value": "DE89 3704"},
        {"document_id": 7, "name": "pets", "type": "checkbox", "value": True},
        {"document_id": 7, "name": "remarks", "type": "multiline", "value": None},
    ]
    insert([follow(request, "signer.signed", signer_id=signer.pk, metadata={"locale": "en", "fields": fields})])
    assert owner.get(path).json()["data"][-1]["metadata"] == {"locale": "en", "fields": fields}
    SignatureRequest.objects.update(status="expired")
    erase_signer(OPERATOR, signer.pk)
    told = owner.get(path).json()["data"][-1]["metadata"]["fields"]
    assert [field["value"] for field in told] == ["erased", "erased", None]
    assert broken_at(Entry.objects.order_by("position")) is None
