"""The OpenAPI document, and its examples: the requests are accepted, the refusals come word for word."""

import io
import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import reduce
from operator import getitem
from typing import Any

import pikepdf
import pytest
from django.utils import timezone
from jsonschema_rs import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from paraph.api.v1.codes import CODES
from paraph.api.v1.openapi import ANSWERS, BODIES, SMALLEST_PDF
from paraph.signature_requests import input as limits
from paraph.signature_requests import values
from paraph.signature_requests.fields.input import MOST_FIELDS
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.limits import ALLOWANCES
from paraph.webhooks import outbox as webhook
from tests.api.v1 import contract
from tests.api.v1.api_clients import (
    EVERY_OPTION,
    ApiClient,
    api_client,
    branding_profile,
    made,
    payload,
    rectangle,
    tag,
)
from tests.api.v1.contract import refusals
from tests.api.v1.test_fields import EVERY
from tests.api.v1.test_read_signature_request import sealed
from tests.contract import contract as contract_pdf
from tests.pdf.changing import SCRIPT
from tests.pdf.pdf_factory import saved
from tests.tenancy import suspend

CONTENT = contract.content()
SCHEMAS: dict[str, Any] = CONTENT["components"]["schemas"]
OPERATIONS = {operation["operationId"]: operation for _method, _path, operation in contract.operations()}
WEBHOOKS = {operation["operationId"]: operation for path in CONTENT["webhooks"].values() for operation in path.values()}


def parts(value: Any, where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object of the document, after its place."""
    if isinstance(value, dict):
        yield where, value
        for name, each in value.items():
            yield from parts(each, f"{where}/{name}")
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from parts(each, f"{where}/{number}")


def test_it_is_openapi() -> None:
    OpenAPIV31SpecValidator(CONTENT).validate()
    for _where, part in parts(CONTENT):
        if isinstance(part.get("$ref"), str):
            assert contract.resolved(part)


def test_everything_says_what_it_is() -> None:
    """Every object, field, parameter, header, body, answer, link and tag."""
    silent = []
    for where, part in parts(CONTENT):
        if "/example" in where:
            continue
        kind = where.rpartition("/")[0].rpartition("/")[2]
        named = kind in ("schemas", "headers", "parameters", "responses", "links", "tags", "securitySchemes")
        if "/link" in where and kind == "parameters":
            continue
        field = kind == "properties" and "/schema" in where
        if (named or field or where.endswith("/requestBody")) and not contract.resolved(part).get("description"):
            silent.append(where)
        if "operationId" in part and "responses" in part and not (part["summary"] and part["description"]):
            silent.append(where)
    assert not silent


def test_every_field_says_what_it_may_hold() -> None:
    """A text has a form, an enumeration or bounds, a number bounds, an array a type and bounds."""
    open_ended = {"recipients", "acknowledgement", "consent_notice", "signing_algorithm", "kms_key_id", "message"}
    open_ended |= {"kms_request_id", "timestamp_authority", "timestamp_policy_oid", "timestamp_failures", "method"}
    open_ended |= {"level_reasons"}
    bounds = {
        "string": {"enum", "const", "format", "pattern", "maxLength", "minLength"},
        "integer": {"minimum", "enum", "const"},
        "number": {"minimum"},
        "array": {"maxItems"},
        "boolean": {"type"},
        "object": {"properties", "maxProperties"},
    }
    for name, schema in SCHEMAS.items():
        for field, facts in schema["properties"].items():
            for one in facts.get("anyOf", facts.get("oneOf", [facts])):
                if "$ref" in one or one["type"] == "null" or field in open_ended:
                    continue
                assert bounds[one["type"]] & set(one), f"{name}.{field}"


def test_every_operation_has_examples_that_are_of_their_schemas() -> None:
    bodies = 0
    for where, part in parts(CONTENT):
        if "schema" not in part or where.endswith("/example"):
            continue
        examples = [each["value"] for each in part.get("examples", {}).values()]
        examples += [part["example"]] if "example" in part else part["schema"].get("examples", [])
        if where.endswith(("/application~1json", "/application/json", "/multipart/form-data")):
            assert examples, where
            bodies += 1
        schema = contract.closed({**part["schema"], "components": {"schemas": SCHEMAS}})
        for example in examples:
            Draft202012Validator(schema, validate_formats=True).validate(example)
    assert bodies > len(OPERATIONS) * 5
    for _where, part in parts(SCHEMAS):
        if isinstance(part.get("examples"), list):
            for example in part["examples"]:
                Draft202012Validator(part).validate(example)


def test_every_operation_tells_its_errors() -> None:
    for name, operation in OPERATIONS.items():
        assert {"401", "402", "429", "500"} <= set(operation["responses"]), name
        for status, response in operation["responses"].items():
            if status < "400":
                continue
            answer = response["content"]["application/json"]
            assert answer["schema"] == {"$ref": "#/components/schemas/Error"}
            for example in answer["examples"].values():
                code = example["value"]["error"]["code"]
                assert str(CODES[code].status) == status, (name, code)
                assert f"`{code}`" in response["description"], (name, code)


def test_every_code_has_an_example() -> None:
    """Only ``method_not_allowed`` has none: no documented call can meet it."""
    shown = {
        example["value"]["error"]["code"]
        for operation in OPERATIONS.values()
        for status, response in operation["responses"].items()
        if status >= "400"
        for example in response["content"]["application/json"]["examples"].values()
    }
    assert shown == {*CODES} - {"method_not_allowed"}
    assert set(SCHEMAS["ErrorBody"]["properties"]["code"]["x-extensible-enum"]) == {*CODES}


def test_every_operation_wants_a_key_and_every_answer_but_401_tells_the_limits() -> None:
    assert CONTENT["security"] == [{"ApiKey": []}]
    for operation in OPERATIONS.values():
        assert "security" not in operation
        for status, response in operation["responses"].items():
            assert ("X-RateLimit-Remaining" in response["headers"]) == (status != "401")
            assert ("WWW-Authenticate" in response["headers"]) == (status == "401")


def test_the_limits_are_those_of_the_code() -> None:
    root = SCHEMAS["SignatureRequestInput"]["properties"]
    assert (root["validity_days"]["minimum"], root["validity_days"]["maximum"]) == (1, values.MOST_VALIDITY_DAYS)
    for field, most in (("stamps", limits.MOST_STAMPS), ("fields", MOST_FIELDS)):
        array, null = SCHEMAS["Assignment"]["properties"][field]["anyOf"]
        assert (array["maxItems"], null) == (most, {"type": "null"})
    assert root["copies"]["anyOf"][0]["maxItems"] == limits.MOST_COPIES
    box = SCHEMAS["Rectangle"]["properties"]
    for side, bounds, default in (("width", (80, 400), 200), ("height", (30, 160), 80)):
        number, null = box[side]["anyOf"]
        assert ((number["minimum"], number["maximum"]), box[side]["default"]) == (bounds, default)
        assert null == {"type": "null"}
    for field, largest in (("signers", limits.MOST_SIGNERS), ("documents", limits.MOST_DOCUMENTS)):
        allowed = [getattr(allowance, field) for allowance in ALLOWANCES.values()]
        assert root[field]["maxItems"] == max(allowed) == largest
        assert all(f"{most} on" in root[field]["description"] for most in allowed)


def test_the_webhooks_are_those_that_are_sent() -> None:
    assert set(WEBHOOKS) == {*webhook.EVENTS, webhook.TEST_EVENT}
    for event, operation in WEBHOOKS.items():
        assert operation["security"] == []
        body = operation["requestBody"]["content"]["application/json"]
        assert body["examples"][event]["value"]["event"] == event
        named = {parameter["name"]: parameter for parameter in operation["parameters"]}
        required = {"X-Service-Event", "X-Service-Event-Id", "X-Service-Delivery", "X-Service-Signature"}
        assert {name for name, parameter in named.items() if parameter["required"]} == required
        assert set(named) == {*required, "X-Service-Signature-Next"}
        assert named["X-Service-Event"]["example"] == event
    assert set(OPERATIONS["createSignatureRequest"]["callbacks"]) == set(webhook.TERMINAL_EVENTS)


def test_payloads_of_webhooks_are_of_their_schemas(owner: ApiClient) -> None:
    created = owner.create(payload(owner.document())).json()
    sealed(created)
    request = SignatureRequest.objects.get()
    for event, operation in WEBHOOKS.items():
        signer = request.signers.first() if event in webhook.SIGNER_EVENTS else None
        text = (
            webhook.payload_of_test(timezone.now())
            if event == webhook.TEST_EVENT
            else webhook.payload(event, timezone.now(), request, signer)
        )
        schema = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        contract.validator(schema.rpartition("/")[2]).validate(json.loads(webhook.body(event, text, request.pk)))


def test_a_payload_of_every_field_is_of_the_schema_and_accepted(owner: ApiClient) -> None:
    content = payload(owner.document(), **EVERY_OPTION)
    content["signers"][0] |= {"phone": "+33612345678", "otp_channel": "sms", "role": "signer", "language": "pt"}
    content["documents"][0]["signers"][0]["stamps"] = [tag("{{ada}}", optional=True), rectangle(width=80, height=30)]
    content["documents"][0]["signers"][0]["fields"] = EVERY
    assert {name for field in EVERY for name in field} == set(SCHEMAS["FieldInput"]["properties"])
    assert set(content) == set(SCHEMAS["SignatureRequestInput"]["properties"])
    assert set(content["signers"][0]) == set(SCHEMAS["SignerInput"]["properties"])
    contract.validator("Creation").validate({"signature_request": content})
    assert owner.create(content).status_code == 201


def test_an_answer_beyond_the_document_is_noticed(owner: ApiClient) -> None:
    """This is a test of :mod:`contract` itself, which all other tests of the API rely on."""
    response = owner.get("/health")
    for changed in ({"more": 1}, {"status": "fine"}):
        response.json = lambda changed=changed: json.loads(response.content) | changed
        with pytest.raises(Exception, match=r"more|fine"):
            contract.check("GET", "/health", response)
    response.json = lambda: json.loads(response.content)
    del response["X-RateLimit-Limit"]
    with pytest.raises(AssertionError, match="X-RateLimit-Limit"):
        contract.check("GET", "/health", response)


def test_codes_that_are_added_break_no_generated_client() -> None:
    contract.validator("Error").validate({"error": {"code": "a_code_of_tomorrow", "message": "No."}})


CREATIONS = BODIES["createSignatureRequest"]
Make = Callable[[ApiClient, dict[str, Any]], Any]


def creation(name: str, document_id: int) -> dict[str, Any]:
    """Return the payload of the example, about a document that exists."""
    content: dict[str, Any] = deepcopy(CREATIONS[name][1])["signature_request"]
    content["documents"][0]["id"] = document_id
    return content


def lease(owner: ApiClient, file: bytes = b"") -> int:
    return int(owner.upload(file or contract_pdf(), name="lease.pdf").json()["id"])


def lease_with_a_script() -> bytes:
    with pikepdf.open(io.BytesIO(contract_pdf())) as document:
        document.Root.OpenAction = SCRIPT
        return saved(document)


@pytest.mark.parametrize("name", CREATIONS)
def test_creations_are_accepted_and_answered_like_the_example(owner: ApiClient, name: str) -> None:
    content = creation(name, lease(owner))
    if "branding_profile_id" in content:
        profile = branding_profile(owner)
        content["branding_profile_id"] = profile.pk
    response = made(owner.create(content))
    [(_summary, example)] = ANSWERS["createSignatureRequest"].values()
    assert list(response) == list(example)
    assert list(response["signers"][0]) == list(example["signers"][0])


def test_the_smallest_upload_is_accepted(owner: ApiClient) -> None:
    response = owner.upload(SMALLEST_PDF.encode())
    assert response.status_code == 201
    assert list(response.json()) == list(ANSWERS["uploadDocument"]["ready"][1])


def changed(*place: str | int, **fields: Any) -> Make:
    """Return a call that creates with other fields at that place."""

    def make(owner: ApiClient, content: Any) -> Any:
        reduce(getitem, place, content).update(fields)
        return owner.create(content)

    return make


def sent(operation: str, body: bytes, content_type: str) -> Make:
    return lambda owner, _content: owner.send("POST", operation, body, content_type)


def two_faults(owner: ApiClient, content: dict[str, Any]) -> Any:
    content["signers"][1]["phone"] = "0612345678"
    return owner.create(content | {"validity_days": 365})


def another_document(owner: ApiClient, content: dict[str, Any]) -> Any:
    content["documents"][0]["id"] += 1
    return owner.create(content)


EMPTY = "multipart/form-data; boundary=x"
OFF_THE_PAGE = {"page_number": 3, "x": 500, "y": 120}
LOST_TAG = {"tag": "{{signature:seller}}"}
CREATION: dict[str, tuple[str, Make]] = {
    "forbidden_sms": ("free", changed("signers", 0, otp_channel="sms", phone="+33612345678")),
    "forbidden_branding": ("free", changed(branding_profile_id=4)),
    "initials_not_available_on_plan": ("free", changed(initials_required=True)),
    "payload_too_large": ("pro", sent("/signature_requests", b" " * (4 * 1024 * 1024 + 1), "application/json")),
    "unsupported_media_type": ("pro", sent("/signature_requests", b"{}", "text/plain")),
    "identity_declaration_required": ("pro", changed(send_email=True)),
    "validation_fields": ("pro", two_faults),
    "validation_tag": ("pro", changed("documents", 0, "signers", 0, "stamps", 0, value=LOST_TAG)),
    "validation_page": ("pro", changed("documents", 0, "signers", 1, "stamps", 0, value=OFF_THE_PAGE)),
    "validation_document": ("pro", another_document),
    "validation_json": ("pro", sent("/signature_requests", b'{"signature_request": }', "application/json")),
}


def test_every_refusal_of_a_creation_is_made_here() -> None:
    everywhere = {"invalid_api_key", "payment_required", "rate_limited", "internal_error"}
    everywhere |= {"suspended"}  # test_refusals_that_any_call_may_meet
    everywhere |= {"request_timeout"}  # needs a client that is cut off: tests/attacks/test_hostile_bodies.py
    everywhere |= {"insufficient_storage_requests"}  # needs as many as there may be: tests/flow/test_upload.py
    everywhere |= {"unavailable"}  # needs a service that is busy: test_refused_files.py
    everywhere |= {"unavailable_for_now"}  # needs a database that is away: tests/operations/test_database_restarts.py
    everywhere |= {"idempotency_key_in_use", "gone", "idempotency_key_reused"}  # test_idempotency.py
    everywhere |= {"validation_idempotency_key"}  # likewise
    assert refusals("createSignatureRequest").keys() - everywhere == set(CREATION)


@pytest.mark.parametrize("name", CREATION)
def test_refusals_of_a_creation(db: None, name: str) -> None:
    plan, make = CREATION[name]
    owner = api_client(plan)
    document_id = lease(owner)
    said = make(owner, creation("links", document_id)).json()["error"]
    expected = refusals("createSignatureRequest")[name]
    here = {"35": document_id, "36": document_id + 1}
    assert said["message"] == re.sub(r"\bdocument (35|36)\b", lambda found: f"document {here[found[1]]}", expected)
    assert name.startswith(said["code"].removesuffix("_error")) and not SignatureRequest.objects.exists()


UPLOAD: dict[str, Callable[[ApiClient], Any]] = {
    "unsupported_media_type": lambda owner: owner.send("POST", "/documents", b"{}"),
    "validation_mime_type": lambda owner: owner.upload(content_type="image/png"),
    "validation_not_a_pdf": lambda owner: owner.upload(b"\x89PNG"),
    "validation_no_file": lambda owner: owner.send("POST", "/documents", b"--x--\r\n", EMPTY),
}


def test_refusals_of_an_upload_and_of_filters(owner: ApiClient) -> None:
    for name, make in UPLOAD.items():
        assert make(owner).json()["error"]["message"] == refusals("uploadDocument")[name]
    for operation, path in (("listDocuments", "/documents"), ("listSignatureRequests", "/signature_requests")):
        response = owner.get(path, status="done", created_after="yesterday")
        assert response.json()["error"]["message"] == refusals(operation)["validation_filters"]


def test_refusals_that_any_call_may_meet(owner: ApiClient) -> None:
    free = api_client("free", "production")
    for scope, name in ((ApiClient(None), "invalid_api_key"), (free, "payment_required")):
        assert scope.get("/health").json()["error"]["message"] == refusals("readHealth")[name]
    assert owner.get("/documents/1").json()["error"]["message"] == refusals("readDocument")["not_found"]
    assert owner.organization
    suspend(owner.organization.pk)
    assert owner.get("/health").json()["error"]["message"] == refusals("readHealth")["suspended"]


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
