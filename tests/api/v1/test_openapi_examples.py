"""The examples of the OpenAPI document are real: the requests are accepted, the refusals come in these very words."""

import io
import json
import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pikepdf
import pytest

from paraph.api.v1.openapi.examples import ANSWERS, BODIES, SMALLEST_PDF
from tests.api.v1.api_clients import ApiClient, api_client, branding_profile
from tests.api.v1.contract import refusals
from tests.api.v1.test_openapi import OPERATIONS
from tests.contract import contract
from tests.pdf.changing import SCRIPT
from tests.pdf.pdf_factory import saved
from tests.tenancy import suspend

CREATIONS = BODIES["createSignatureRequest"]
Make = Callable[[ApiClient, dict[str, Any]], Any]


def creation(name: str, document_id: int) -> dict[str, Any]:
    """The example's payload about a document that exists."""
    content: dict[str, Any] = deepcopy(CREATIONS[name][1])["signature_request"]
    content["documents"][0]["id"] = document_id
    return content


def lease(owner: ApiClient, file: bytes = b"") -> int:
    return int(owner.upload(file or contract(), name="lease.pdf").json()["id"])


def lease_with_a_script() -> bytes:
    with pikepdf.open(io.BytesIO(contract())) as document:
        document.Root.OpenAction = SCRIPT
        return saved(document)


@pytest.mark.parametrize("name", CREATIONS)
def test_creations_are_accepted_and_answered_like_the_example(owner: ApiClient, name: str) -> None:
    content = creation(name, lease(owner))
    if "branding_profile_id" in content:
        profile = branding_profile(owner)
        content["branding_profile_id"] = profile.pk
    response = owner.create(content)
    assert response.status_code == 201, response.content
    [(_summary, example)] = ANSWERS["createSignatureRequest"].values()
    assert list(response.json()) == list(example)
    assert list(response.json()["signers"][0]) == list(example["signers"][0])


def test_the_smallest_upload_is_accepted(owner: ApiClient) -> None:
    response = owner.upload(SMALLEST_PDF.encode())
    assert response.status_code == 201
    assert list(response.json()) == list(ANSWERS["uploadDocument"]["ready"][1])


def changed(name: str = "everything", /, **root: Any) -> Make:
    """A creation with other fields at the root, whose document is the one uploaded."""
    return lambda owner, content: owner.create(content | root)


def edited(edit: Callable[[dict[str, Any]], Any]) -> Make:
    def make(owner: ApiClient, content: dict[str, Any]) -> Any:
        edit(content)
        return owner.create(content)

    return make


def two_faults(content: dict[str, Any]) -> None:
    content["validity_days"] = 365
    content["signers"][1]["phone"] = "0612345678"


def by_sms(content: dict[str, Any]) -> None:
    content["signers"][0] |= {"otp_channel": "sms", "phone": "+33612345678"}


def another_document(content: dict[str, Any]) -> None:
    content["documents"][0]["id"] += 1


def lost_tag(content: dict[str, Any]) -> None:
    content["documents"][0]["signers"][0]["stamps"][0]["value"] = {"tag": "{{signature:seller}}"}


def off_the_page(content: dict[str, Any]) -> None:
    content["documents"][0]["signers"][1]["stamps"][0]["value"] = {"page_number": 3, "x": 500, "y": 120}


def sent(operation: str, body: bytes, content_type: str) -> Make:
    return lambda owner, _content: owner.send("POST", operation, body, content_type)


EMPTY = "multipart/form-data; boundary=x"
CREATION: dict[str, tuple[str, Make]] = {
    "forbidden_sms": ("free", edited(by_sms)),
    "forbidden_branding": ("free", changed(branding_profile_id=4)),
    "initials_not_available_on_plan": ("free", changed(initials_required=True)),
    "payload_too_large": ("pro", sent("/signature_requests", b" " * (4 * 1024 * 1024 + 1), "application/json")),
    "unsupported_media_type": ("pro", sent("/signature_requests", b"{}", "text/plain")),
    "identity_declaration_required": ("pro", changed(send_email=True)),
    "validation_fields": ("pro", edited(two_faults)),
    "validation_tag": ("pro", edited(lost_tag)),
    "validation_page": ("pro", edited(off_the_page)),
    "validation_document": ("pro", edited(another_document)),
    "validation_json": ("pro", sent("/signature_requests", b'{"signature_request": }', "application/json")),
}  # fmt: skip


def message(operation: str, name: str) -> str:
    """What the example says."""
    return refusals(operation)[name]


def test_every_refusal_of_a_creation_is_made_here() -> None:
    everywhere = {"invalid_api_key", "payment_required", "rate_limited", "internal_error"}
    everywhere |= {"suspended"}  # test_refusals_that_any_call_may_meet
    everywhere |= {"request_timeout"}  # wants a client that is cut off: tests/scenarios/test_hostile_input.py
    everywhere |= {"idempotency_key_in_use", "gone", "idempotency_key_reused", "validation_idempotency_key"}
    # these are made in test_idempotency.py
    everywhere |= {"insufficient_storage_requests"}  # wants as many as there may be: tests/flow/test_make_room.py
    everywhere |= {"unavailable"}  # wants a service that is busy: test_unavailable.py
    everywhere |= {"unavailable_for_now"}  # wants a database that is away: tests/operations/test_database_restarts.py
    assert refusals("createSignatureRequest").keys() - everywhere == set(CREATION)


@pytest.mark.parametrize("name", CREATION)
def test_refusals_of_a_creation(db: None, name: str) -> None:
    plan, make = CREATION[name]
    owner = api_client(plan)
    document_id = lease(owner)
    said = make(owner, creation("links", document_id)).json()["error"]["message"]
    expected = message("createSignatureRequest", name)
    here = {"35": document_id, "36": document_id + 1}
    assert said == re.sub(r"\bdocument (35|36)\b", lambda found: f"document {here[found[1]]}", expected)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("payload_too_large", lambda owner: owner.upload(b"%PDF-" + b"x" * 50 * 1024 * 1024)),
        ("unsupported_media_type", lambda owner: owner.send("POST", "/documents", b"{}")),
        ("validation_mime_type", lambda owner: owner.upload(content_type="image/png")),
        ("validation_not_a_pdf", lambda owner: owner.upload(b"\x89PNG")),
        ("validation_no_file", lambda owner: owner.send("POST", "/documents", b"--x--\r\n", EMPTY)),
    ],
)  # fmt: skip
def test_refusals_of_an_upload(owner: ApiClient, name: str, make: Callable[[ApiClient], Any]) -> None:
    assert make(owner).json()["error"]["message"] == message("uploadDocument", name)


@pytest.mark.parametrize("operation", ["listDocuments", "listSignatureRequests"])
def test_refusals_of_filters(owner: ApiClient, operation: str) -> None:
    path = {"listDocuments": "/documents", "listSignatureRequests": "/signature_requests"}[operation]
    response = owner.get(path, status="done", created_after="yesterday")
    assert response.json()["error"]["message"] == message(operation, "validation_filters")


def test_refusals_that_any_call_may_meet(owner: ApiClient) -> None:
    free = api_client("free", "production")
    for scope, name in ((ApiClient(None), "invalid_api_key"), (free, "payment_required")):
        assert scope.get("/health").json()["error"]["message"] == message("readHealth", name)
    assert owner.get("/documents/1").json()["error"]["message"] == message("readDocument", "not_found")
    assert owner.organization
    suspend(owner.organization.pk)
    assert owner.get("/health").json()["error"]["message"] == message("readHealth", "suspended")


def test_answers_have_the_fields_of_the_examples(owner: ApiClient) -> None:
    document_id = lease(owner, lease_with_a_script())
    created = owner.create(creation("links", document_id)).json()
    assert list(owner.get(f"/documents/{document_id}").json()) == list(ANSWERS["readDocument"]["ready"][1])
    read = owner.get(f"/signature_requests/{created['id']}").json()
    assert list(read) == [*ANSWERS["createSignatureRequest"]["created"][1], "finalized"]
    log = owner.get(f"/signature_requests/{created['id']}/audit_logs").json()["data"][0]
    example = ANSWERS["listAuditLogs"]["begun"][1]["data"][0]
    assert list(log) == list(example) and set(log["metadata"]) == set(example["metadata"])
    assert set(log["metadata"]["documents"][0]) == set(example["metadata"]["documents"][0])


def test_the_document_holds_the_examples_as_they_are() -> None:
    for name, answers in ANSWERS.items():
        [answer] = [each for status, each in OPERATIONS[name]["responses"].items() if status < "300"]
        shown = answer["content"]["application/json"]["examples"]
        assert {key: each["value"] for key, each in shown.items()} == {
            key: json.loads(json.dumps(value)) for key, (_summary, value) in answers.items()
        }
