"""GET /signature_requests (rule 4.6). Pages and filters in general: test_list_documents."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from paraph.kernel import clock
from paraph.signature_requests.models import SignatureRequest, Signer
from tests.api.v1.api_clients import ApiClient, branding_profile, error, payload
from tests.api.v1.test_read_signature_request import sealed

TIMESTAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


@pytest.fixture
def three(owner: ApiClient) -> list[int]:
    """A pending, a completed and an expired request; the second one signed, and in colours."""
    document = owner.document()
    ids = [owner.create(payload(document)).json()["id"] for _ in range(3)]
    for request_id, status in zip(ids, ("pending", "completed", "expired"), strict=True):
        SignatureRequest.objects.filter(pk=request_id).update(status=status)
    Signer.objects.filter(request=ids[1]).update(status="signed", signed_at=clock.now())
    SignatureRequest.objects.filter(pk=ids[1]).update(branding_profile=branding_profile(owner))
    return ids


def entries(owner: ApiClient, **query: Any) -> list[dict[str, Any]]:
    response = owner.get("/signature_requests", **query)
    assert response.status_code == 200
    return list(response.json()["data"])


def test_entries_are_those_of_the_read(owner: ApiClient, three: list[int]) -> None:
    assert entries(owner) == [owner.get(f"/signature_requests/{request_id}").json() for request_id in three]


def test_a_signed_signer_has_no_signing_url(owner: ApiClient, three: list[int]) -> None:
    pending, completed, expired = entries(owner)
    assert {signer["signing_url"] for signer in completed["signers"]} == {None}
    assert all(re.fullmatch(TIMESTAMP, signer["signed_at"]) for signer in completed["signers"])
    for entry in (pending, expired):
        assert all(signer["signing_url"].startswith("http") for signer in entry["signers"])
        assert {signer["signed_at"] for signer in entry["signers"]} == {None}


def test_entries_never_have_download_urls(owner: ApiClient) -> None:
    created = owner.create(payload(owner.document())).json()
    sealed(created)
    assert "download_urls" in owner.get(f"/signature_requests/{created['id']}").json()
    entry = entries(owner)[0]
    assert entry["finalized"] is True
    assert "download_urls" not in entry


def test_entries_show_the_branding_profile(owner: ApiClient) -> None:
    profile = branding_profile(owner)
    created = owner.create(payload(owner.document(), branding_profile_id=profile.pk)).json()
    assert created["branding_profile"]["id"] == profile.pk
    assert entries(owner)[0]["branding_profile"] == created["branding_profile"]


@pytest.mark.parametrize(("status", "place"), [("pending", 0), ("completed", 1), ("expired", 2)])
def test_by_status(owner: ApiClient, three: list[int], status: str, place: int) -> None:
    response = owner.get("/signature_requests", status=status)
    assert [entry["id"] for entry in response.json()["data"]] == [three[place]]
    assert response.json()["pagination"]["count"] == 1


def test_by_order_and_creation(owner: ApiClient, three: list[int]) -> None:
    assert [entry["id"] for entry in entries(owner, order="desc")] == three[::-1]
    first = owner.get(f"/signature_requests/{three[0]}").json()["created_at"]
    last = owner.get(f"/signature_requests/{three[2]}").json()["created_at"]
    assert [entry["id"] for entry in entries(owner, created_after=first, created_before=last)] == three
    assert entries(owner, created_before="2020-01-01") == []


def test_the_enumeration_is_that_of_requests(owner: ApiClient) -> None:
    message = error(owner.get("/signature_requests", status="ready"), 422, "validation_error")
    assert message == "status must be one of pending, completed, expired, not “ready”."


def test_the_number_of_queries_does_not_grow(owner: ApiClient, three: list[int]) -> None:
    counts = []
    for limit in ("1", "3"):
        with CaptureQueriesContext(connection) as queries:
            entries(owner, limit=limit)
        counts.append(len(queries))
    assert counts == [4, 4]  # the caller, the count, the page, the requests of it
