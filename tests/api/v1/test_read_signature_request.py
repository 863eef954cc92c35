"""Reading and listing signature requests and their evidence (rules 4.6, 4.7). Foreign ids: test_tenancy."""

import io
import json
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from paraph.api.v1 import signature_request_shapes
from paraph.flow.housekeeping.retention import delete_files
from paraph.flow.sealing.finalize import finalize
from paraph.kernel import clock
from paraph.messaging.models import PutOffMail
from paraph.signature_requests.models import CopyRecipient, RequestDocument, SignatureRequest, Signer
from tests.api.v1.api_clients import (
    ApiClient,
    api_client,
    branding_profile,
    error,
    invalid,
    made,
    other_clients,
    payload,
    rectangle,
)
from tests.factories import Scene, scene, seal_everything
from tests.plans.skewed import nodes_read
from tests.production import Client

pytestmark = pytest.mark.django_db


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
    """Turn the request into one in which everything is signed, sealed and proven."""
    seal_everything(SignatureRequest.objects.get())
    SignatureRequest.objects.update(**{"status": "completed", "finalized": True} | fields)


def test_it_is_the_answer_of_the_creation_and_finalized(owner: ApiClient, created: dict[str, Any]) -> None:
    assert "finalized" not in created and "download_urls" not in created
    assert read(owner, created) == created | {"finalized": False}


def test_whatever_a_name_is_it_reads_as_it_was_created(owner: ApiClient, created: dict[str, Any]) -> None:
    """Quotation marks, backslashes and control characters too."""
    for name in (
        *('Ada ","signing_url":"7.00",', 'Ada\\","signing_url":"7.00', "\\", '"'),
        *("Zoë 😀 \u2028\x7f", "\t\n\x01/</script>"),
    ):
        Signer.objects.update(first_name=name)
        response = owner.get(f"/signature_requests/{created['id']}")
        content = response.json()
        for signer, before in zip(content["signers"], created["signers"], strict=True):
            assert signer == before | {"first_name": name, "full_name": f"{name} {before['last_name']}"}
        assert response.content == json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def test_a_signed_signer_has_no_signing_url(owner: ApiClient, created: dict[str, Any]) -> None:
    """A notified signer still has one."""
    moment = clock.now()
    Signer.objects.update(status="notified")
    Signer.objects.filter(pk=created["signers"][0]["id"]).update(status="signed", signed_at=moment)
    ada, grace = read(owner, created)["signers"]
    assert (ada["status"], ada["signing_url"], ada["signed_at"]) == ("signed", None, clock.iso(moment))
    assert (grace["status"], grace["signed_at"]) == ("notified", None)
    assert grace["signing_url"] == created["signers"][1]["signing_url"]


def test_download_urls_once_completed_and_finalized(owner: ApiClient, created: dict[str, Any]) -> None:
    sealed(created)
    with CaptureQueriesContext(connection) as queries:
        entries = read(owner, created)["download_urls"]
    assert len(queries) == 4  # the key, the request, the proof, the sealed documents
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


def test_no_download_urls_before(owner: ApiClient, created: dict[str, Any]) -> None:
    seal_everything(SignatureRequest.objects.get())
    for fields in ({"finalized": False}, {"status": "expired"}, {"status": "pending"}):
        SignatureRequest.objects.update(**{"status": "completed", "finalized": True} | fields)
        assert "download_urls" not in read(owner, created), fields


@pytest.fixture
def three(owner: ApiClient) -> list[int]:
    """A pending, a completed and an expired request; the second one is signed, and has a branding profile."""
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


def test_entries_never_have_download_urls(owner: ApiClient) -> None:
    created = owner.create(payload(owner.document())).json()
    sealed(created)
    assert "download_urls" in owner.get(f"/signature_requests/{created['id']}").json()
    entry = entries(owner)[0]
    assert entry["finalized"] is True
    assert "download_urls" not in entry


def test_by_status_creation_and_order(owner: ApiClient, three: list[int]) -> None:
    for status, request_id in zip(("pending", "completed", "expired"), three, strict=True):
        answer = owner.get("/signature_requests", status=status).json()
        assert [(entry["id"], entry["status"]) for entry in answer["data"]] == [(request_id, status)]
        assert answer["pagination"]["count"] == 1
    assert [entry["id"] for entry in entries(owner, order="desc", created_after="2020-01-01")] == three[::-1]
    assert entries(owner, created_before="2020-01-01") == []
    shown = [each["created_at"] for each in entries(owner)]  # to the second, and both bounds are inclusive
    assert [entry["id"] for entry in entries(owner, created_after=shown[0], created_before=shown[2])] == three


def test_by_external_id_verbatim(owner: ApiClient) -> None:
    document = owner.document()
    ids = [made(owner.create(payload(document, external_id=each)))["id"] for each in ("a", "b", "A", "a", None)]

    def found(**query: Any) -> list[int]:
        answer = owner.get("/signature_requests", **query).json()
        listed = [each["id"] for each in answer["data"]]
        assert answer["pagination"]["count"] == len(listed) or "limit" in query
        return listed

    assert found(external_id="a") == [ids[0], ids[3]]
    assert found(external_id="a", order="desc") == [ids[3], ids[0]]
    assert found(external_id="a", limit=1, page=2) == [ids[3]]
    assert found(external_id="a", status="completed") == found(external_id="c") == []
    assert found(external_id="a", created_after="2001-01-01") == [ids[0], ids[3]]
    for name, other in other_clients(owner).items():
        assert other.get("/signature_requests", external_id="a").json()["data"] == [], name


def test_an_external_id_that_nothing_could_have(owner: ApiClient) -> None:
    for value in ("", " ", "e" * 201, "a\0"):
        message = invalid(owner.get("/signature_requests", external_id=value))
        assert message.startswith("external_id must be a text of 1 to 200 characters, not “")


TABLES = ("signature_requests_field", "signature_requests_copyrecipient")


def searched(made: Scene) -> dict[str, int]:
    """Return how often reading this request looks into the tables of fields and of copies."""
    values: dict[str, Any] = {"ids": [made.request.pk], "now": clock.now(), **made.scope().columns}
    found = nodes_read(signature_request_shapes._READ, values)
    return {
        table: sum(node["Actual Loops"] for node in found if node.get("Relation Name") == table) for table in TABLES
    }


def test_a_request_without_fields_and_copies_is_read_without_looking_for_them() -> None:
    assert searched(scene(signers=2)) == dict.fromkeys(TABLES, 0)
    assert all(searched(scene(signers=2, fields=[{}], copies=1)).values())


def put_off(signer_id: int, until: Any) -> None:
    PutOffMail.objects.update_or_create(name=f"invitation-{signer_id}", defaults={"until": until, "reason": "x"})


def told(owner: ApiClient, request_id: int) -> list[Any]:
    """Return each signer's ``delivery``, in order, after checking that the request and the list agree on it."""
    one = owner.get(f"/signature_requests/{request_id}").json()
    [listed] = [each for each in owner.get("/signature_requests").json()["data"] if each["id"] == request_id]
    deliveries = [signer["delivery"] for signer in one["signers"]]
    assert deliveries == [signer["delivery"] for signer in listed["signers"]]
    return deliveries


def test_until_when_an_invitation_is_put_off(owner: ApiClient, created: dict[str, Any]) -> None:
    [first, *others] = [signer["id"] for signer in created["signers"]]
    nothing = [None] * len(others)
    before = [signer["delivery"] for signer in created["signers"]]
    assert before == told(owner, created["id"]) == [None, *nothing]
    until = clock.now() + timedelta(minutes=40)
    put_off(first, until)
    assert told(owner, created["id"]) == [{"put_off_until": clock.iso(until)}, *nothing]
    put_off(first, clock.now() - timedelta(seconds=1))  # the invitation is due
    assert told(owner, created["id"]) == [None, *nothing]


@pytest.mark.parametrize(
    ("channel", "reason"),
    [("email", "The mail server refuses this address: 550 no"), ("sms", "The SMS gateway refuses this number: 550 no")],
)
def test_what_was_refused_for_good(owner: ApiClient, created: dict[str, Any], channel: str, reason: str) -> None:
    [first, *others] = [signer["id"] for signer in created["signers"]]
    put_off(first, clock.now() + timedelta(minutes=40))
    facts = {"mail": "invitation-1", "channel": channel, "answer": "550 no", "at": clock.iso(clock.now())}
    Signer.objects.filter(pk=first).update(undelivered=facts)
    failed = {"failed": {"reason": reason, "at": facts["at"]}}
    assert told(owner, created["id"]) == [failed, *[None] * len(others)]
    Signer.objects.filter(pk=first).update(status="notified")
    assert told(owner, created["id"]) == [failed, *[None] * len(others)], "it may be a reminder"


def test_a_copy_that_was_refused_for_good(owner: ApiClient) -> None:
    people = [{"first_name": "Cy", "last_name": str(n), "email": f"cy{n}@example.com"} for n in range(2)]
    made = owner.create({**payload(owner.document()), "copies": people}).json()
    assert made["copies"] == people
    facts = {"mail": "copy-1", "channel": "email", "answer": "550 no", "at": clock.iso(clock.now())}
    CopyRecipient.objects.filter(position=1).update(undelivered=facts)
    failed = {"failed": {"reason": "The mail server refuses this address: 550 no", "at": facts["at"]}}
    read = owner.get(f"/signature_requests/{made['id']}").json()
    assert read["copies"] == [people[0], {**people[1], "delivery": failed}]


@pytest.mark.parametrize("status", ["notified", "signed"])
def test_what_is_out_is_not_put_off(owner: ApiClient, created: dict[str, Any], status: str) -> None:
    """The note that it was put off stays for a day after the mail is out."""
    ada = created["signers"][0]["id"]
    put_off(ada, clock.now() + timedelta(minutes=40))
    Signer.objects.filter(pk=ada).update(status=status, notified_at=clock.now())
    assert told(owner, created["id"])[0] is None


def test_the_address_of_all_evidence_once_it_is_finalized(
    owner: ApiClient, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    created: dict[str, Any] = owner.create(payload(owner.document())).json()
    path = f"/signature_requests/{created['id']}/evidence"
    assert error(owner.get(path), 409, "conflict") == "The request is not finalized yet."
    for signer in created["signers"]:
        owner.post(f"/sandbox/signature_requests/{created['id']}/signers/{signer['id']}/sign", {})
    for row in RequestDocument.objects.all():
        finalize(row.pk)
    for stranger in (api_client(), api_client("pro", "production", owner.organization)):
        assert error(stranger.get(path), 404, "not_found")
    found = owner.get(path).json()
    assert found["expires_in"] == 900
    address = found["evidence_url"].removeprefix("http://127.0.0.1:8000")
    answer = client.get(address)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/zip")
    bundle = b"".join(answer)
    assert len(bundle) == int(answer["Content-Length"])
    assert f'filename="request-{created["id"]}.zip"' in answer["Content-Disposition"]
    assert zipfile.ZipFile(io.BytesIO(bundle)).testzip() is None
    rest = client.get(address, headers={"Range": "bytes=1000-"})
    assert rest.status_code == 206 and b"".join(rest) == bundle[1000:], "it goes on where it was interrupted"

    altered = address.replace(f"bundles/{created['id']}", "bundles/1")
    assert client.get(altered).status_code == 403
    delete_files(created["id"])
    assert client.get(address).status_code == 404
    assert error(owner.get(path), 410, "gone") == "The files of the request have been deleted."
    later = clock.now() + timedelta(seconds=901)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert client.get(address).status_code == 403
