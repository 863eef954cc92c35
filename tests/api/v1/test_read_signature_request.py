"""GET /signature_requests/{id} (rule 4.7). Foreign ids: test_tenancy."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from paraph.evidence.models import ProofFile, SealedDocument
from paraph.kernel import clock
from paraph.signature_requests.models import RequestDocument, SignatureRequest, Signer
from paraph.storage import store
from tests.api.v1.api_clients import ApiClient, branding_profile, error, payload, rectangle
from tests.production import Client


@pytest.fixture
def created(owner: ApiClient) -> dict[str, Any]:
    """A request on two documents."""
    content = payload(owner.document())
    content["documents"].append({"id": owner.document(), "signers": [{"signer_ref": "ada", "stamps": [rectangle()]}]})
    return dict(owner.create(content).json())


def read(owner: ApiClient, created: dict[str, Any]) -> dict[str, Any]:
    response = owner.get(f"/signature_requests/{created['id']}")
    assert response.status_code == 200
    return dict(response.json())


def sealed(created: dict[str, Any], **fields: Any) -> None:
    """As if everything were signed, sealed and proven."""
    for row in RequestDocument.objects.order_by("-position"):
        key = f"test/sealed-{row.pk}.pdf"
        store.put(key, b"sealed %d" % row.document_id)
        SealedDocument.objects.create(request_document=row, object_key=key, sha256=b"", file_size=1, seal={})
    store.put(f"test/proof-{created['id']}.pdf", b"proof")
    ProofFile.objects.create(
        request_id=created["id"], object_key=f"test/proof-{created['id']}.pdf", sha256=b"", file_size=1, seal={}
    )
    SignatureRequest.objects.update(**{"status": "completed", "finalized": True} | fields)


def test_it_is_the_answer_of_the_creation_and_finalized(owner: ApiClient, created: dict[str, Any]) -> None:
    assert "finalized" not in created and "download_urls" not in created
    assert read(owner, created) == created | {"finalized": False}


@pytest.mark.parametrize(
    "name",
    ['Ada ","signing_url":"7.00",', 'Ada\\","signing_url":"7.00', "\\", "Zoë 😀 \u2028\x7f", "\t\n\x01/</script>", '"'],
)
def test_whatever_a_name_is_it_reads_as_it_was_created(owner: ApiClient, created: dict[str, Any], name: str) -> None:
    Signer.objects.update(first_name=name)
    response = owner.get(f"/signature_requests/{created['id']}")
    content = response.json()
    for signer, before in zip(content["signers"], created["signers"], strict=True):
        assert signer == before | {"first_name": name, "full_name": f"{name} {before['last_name']}"}
    assert response.content == json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def test_a_signed_signer_has_no_signing_url(owner: ApiClient, created: dict[str, Any]) -> None:
    moment = clock.now()
    Signer.objects.filter(pk=created["signers"][0]["id"]).update(status="signed", signed_at=moment)
    ada, grace = read(owner, created)["signers"]
    assert (ada["status"], ada["signing_url"], ada["signed_at"]) == ("signed", None, clock.iso(moment))
    assert grace["signing_url"] and grace["signed_at"] is None


def test_a_notified_signer_still_has_one(owner: ApiClient, created: dict[str, Any]) -> None:
    Signer.objects.update(status="notified")
    assert [signer["status"] for signer in read(owner, created)["signers"]] == ["notified", "notified"]
    assert read(owner, created)["signers"][0]["signing_url"] == created["signers"][0]["signing_url"]


def test_the_branding_profile_is_shown(owner: ApiClient, created: dict[str, Any]) -> None:
    profile = branding_profile(owner)
    SignatureRequest.objects.update(branding_profile=profile)
    assert read(owner, created)["branding_profile"]["id"] == profile.pk


def test_download_urls_once_completed_and_finalized(owner: ApiClient, created: dict[str, Any]) -> None:
    sealed(created)
    entries = read(owner, created)["download_urls"]
    assert [entry["document_id"] for entry in entries] == created["document_ids"]
    assert {entry["expires_in"] for entry in entries} == {900}
    assert len({entry["certificate_url"] for entry in entries}) == 1
    for entry in entries:
        assert fetched(entry["signed_url"]) == b"sealed %d" % entry["document_id"]
        assert fetched(entry["certificate_url"]) == b"proof"


def fetched(address: str) -> bytes:
    return b"".join(Client().get(address.removeprefix("http://127.0.0.1:8000")))


def test_each_read_gives_fresh_links_for_fifteen_minutes(
    owner: ApiClient, created: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed(created)
    [first, *_] = read(owner, created)["download_urls"]
    began = clock.now()
    for name, content in (("signed_url", b"sealed %d" % first["document_id"]), ("certificate_url", b"proof")):
        monkeypatch.setattr(clock, "now", lambda: began + timedelta(seconds=898))
        assert fetched(first[name]) == content
        monkeypatch.setattr(clock, "now", lambda: began + timedelta(seconds=901))
        assert Client().get(first[name].removeprefix("http://127.0.0.1:8000")).status_code == 403
        [second, *_] = read(owner, created)["download_urls"]
        assert second[name] != first[name]
        assert fetched(second[name]) == content


@pytest.mark.parametrize("fields", [{"finalized": False}, {"status": "expired"}, {"status": "pending"}])
def test_no_download_urls_before(owner: ApiClient, created: dict[str, Any], fields: dict[str, Any]) -> None:
    sealed(created, **fields)
    assert "download_urls" not in read(owner, created)


@pytest.mark.parametrize("status", ["pending", "completed", "expired"])
def test_status(owner: ApiClient, created: dict[str, Any], status: str) -> None:
    SignatureRequest.objects.update(status=status)
    assert read(owner, created)["status"] == status


def test_unknown_is_404(owner: ApiClient) -> None:
    assert error(owner.get("/signature_requests/1"), 404, "not_found") == "There is no such resource."


def test_the_number_of_queries_is_fixed(owner: ApiClient, created: dict[str, Any]) -> None:
    with CaptureQueriesContext(connection) as queries:
        read(owner, created)
    assert len(queries) == 2  # the key, and the request with everything
    sealed(created)
    with CaptureQueriesContext(connection) as queries:
        read(owner, created)
    assert len(queries) == 4  # the key, the request, the proof, the sealed documents
